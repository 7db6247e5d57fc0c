// All pages and the password's form, one chunk: the path of each and its component. The server answers index.html for these paths alone.
export { default as PasswordForm } from "./parts/password.js";
import Departments from "./pages/departments.js";
import EditDepartment from "./pages/edit_department.js";
import EditNodepool from "./pages/edit_nodepool.js";
import EditProject from "./pages/edit_project.js";
import NewWorkload from "./pages/new_workload.js";
import Nodepools from "./pages/nodepools.js";
import Nodes from "./pages/nodes.js";
import Overview from "./pages/overview.js";
import Projects from "./pages/projects.js";
import Workloads from "./pages/workloads.js";

export const ROUTES = {
  "/": Overview,
  "/workloads": Workloads,
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
};
