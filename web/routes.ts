// The pages of every day and the password's form, one chunk; those that few open, another. The path of
// each and its component. The server answers index.html for these paths alone.
import type { ComponentType } from "preact";
export { default as PasswordForm } from "./parts/password";
import { chunk, whenIdle } from "./chunks";
import "./focus";
import { laterPage } from "./parts/later";
import Departments from "./pages/departments";
import EditDepartment from "./pages/edit_department";
import EditNodepool from "./pages/edit_nodepool";
import EditProject from "./pages/edit_project";
import NewWorkload from "./pages/new_workload";
import Nodepools from "./pages/nodepools";
import Nodes from "./pages/nodes";
import Overview from "./pages/overview";
import Projects from "./pages/projects";
import Workloads, { DeletedWorkloads } from "./pages/workloads";

// The pages of the second chunk, which comes when the first page stands and the browser has nothing to do.
const loadSeldom = () => import("./pages/seldom");
type Seldom = Awaited<ReturnType<typeof loadSeldom>>;
const seldom = (title: string, name: keyof Seldom) =>
  laterPage<object>(title, async () => ({ default: (await loadSeldom())[name] as ComponentType<object> }));
whenIdle(() => chunk(loadSeldom));

type View = ComponentType<never>; // what a page is given are the words of its path

export const ROUTES: Record<string, View> = {
  "/": Overview,
  "/workloads": Workloads,
  "/workloads/deleted": DeletedWorkloads,
  "/workloads/new/:kind(training|distributed|workspace|inference)": NewWorkload,
  "/projects": Projects,
  "/projects/new": EditProject,
  "/projects/:id/edit": EditProject,
  "/departments": Departments,
  "/departments/new": EditDepartment,
  "/departments/:id/edit": EditDepartment,
  "/nodes": Nodes,
  "/nodepools": Nodepools,
  "/nodepools/new": EditNodepool,
  "/nodepools/:id/edit": EditNodepool,
  "/idle": seldom("Idle GPUs", "Idle"),
  "/events": seldom("Events", "Events"),
  "/timeline": seldom("Timeline", "Timeline"),
  "/quota": seldom("Quota", "Quota"),
  "/analytics": seldom("Analytics", "Analytics"),
  "/clusters": seldom("Clusters", "Clusters"),
  "/topologies": seldom("Topologies", "Topologies"),
  "/account": seldom("Account", "Account"),
  "/access/users": seldom("Users", "Users"),
  "/access/service-accounts": seldom("Service accounts", "ServiceAccounts"),
  "/access/rules": seldom("Access rules", "AccessRules"),
  "/access/roles": seldom("Roles", "Roles"),
  "/access/roles/new": seldom("New role", "EditRole"),
  "/access/identity": seldom("Identity", "Identity"),
  "/assets/:kind(environments|compute|templates|data-sources|credentials)": seldom("Assets", "Assets"),
  "/policies": seldom("Policies", "Policies"),
  "/settings": seldom("Settings", "Settings"),
  "/about": seldom("About", "About"),
  "/audit": seldom("Audit", "Audit"),
  "/access/roles/:id/edit": seldom("Role", "EditRole"),
};
