// The pages of every day and the password's form, one chunk; those that manage people have chunks of their own. The path of
// each and its component. The server answers index.html for these paths alone.
import type { ComponentType } from "preact";
export { default as PasswordForm } from "./parts/password";
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

// Pages that share much come in one chunk.
const EDIT_ROLE = () => import("./pages/roles").then(({ EditRole }) => ({ default: EditRole }));
const SERVICE_ACCOUNTS = () => import("./pages/users").then(({ ServiceAccounts }) => ({ default: ServiceAccounts }));

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
  "/idle": laterPage("Idle GPUs", () => import("./pages/idle")),
  "/timeline": laterPage("Timeline", () => import("./pages/timeline")),
  "/account": laterPage("Account", () => import("./pages/account")),
  "/access/users": laterPage("Users", () => import("./pages/users")),
  "/access/service-accounts": laterPage("Service accounts", SERVICE_ACCOUNTS),
  "/access/rules": laterPage("Access rules", () => import("./pages/access_rules")),
  "/access/roles": laterPage("Roles", () => import("./pages/roles")),
  "/access/roles/new": laterPage("New role", EDIT_ROLE),
  "/access/identity": laterPage("Identity", () => import("./pages/identity")),
  "/assets/:kind(environments|compute|templates|data-sources|credentials)": laterPage(
    "Assets",
    () => import("./pages/assets"),
  ),
  "/policies": laterPage("Policies", () => import("./pages/policies")),
  "/settings": laterPage("Settings", () => import("./pages/settings")),
  "/audit": laterPage("Audit", () => import("./pages/audit")),
  "/access/roles/:id/edit": laterPage("Role", EDIT_ROLE),
};
