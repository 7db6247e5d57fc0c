// The pages in the sidebar, in the tab bar of a phone and in Find anything. A page one may not read is absent.
import type { IconName } from "./icons";
import { may, session } from "./session";

export interface NavPage {
  label: string;
  href: string;
  icon: IconName;
  /** After g: pages of every day have one, the others are found by their names. */
  key?: string;
  resource?: string;
  /** Of one of these, if not of one. */
  anyOf?: string[];
  /** What documents call it besides: Find anything knows it by that, too. */
  also?: string;
  count?: "workloads" | "projects" | "departments" | "nodes" | "nodePools";
}

const SOURCES = ["pvc", "nfs", "host-path", "git", "s3", "cm-volume", "secret-volume"].map(kind => `${kind}-assets`);

// resource: the permission that reading takes; count: the number beside it, of GET /overview/counts.
export const NAV: { group: string; pages: NavPage[] }[] = [
  {
    group: "",
    pages: [
      { label: "Overview", href: "/", icon: "home", key: "o", resource: "project" },
      { label: "Workloads", href: "/workloads", icon: "list", key: "w", resource: "workloads", count: "workloads" },
      { label: "Projects", href: "/projects", icon: "project", key: "p", resource: "project", count: "projects" },
      {
        label: "Departments",
        href: "/departments",
        icon: "dept",
        key: "d",
        resource: "department",
        count: "departments",
      },
      { label: "Quota", href: "/quota", icon: "quota", key: "q", resource: "project" },
      { label: "Idle GPUs", href: "/idle", icon: "half", key: "i", resource: "workloads" },
    ],
  },
  {
    group: "Cluster",
    pages: [
      { label: "Nodes", href: "/nodes", icon: "node", key: "n", resource: "nodes", count: "nodes" },
      { label: "Node pools", href: "/nodepools", icon: "pool", resource: "nodepools", count: "nodePools" },
      { label: "Timeline", href: "/timeline", icon: "clock", key: "t", resource: "nodes" },
      { label: "Events", href: "/events", icon: "flag", key: "e", resource: "workloads" },
      { label: "Analytics", href: "/analytics", icon: "chart", resource: "cluster" },
      { label: "Clusters", href: "/clusters", icon: "globe", resource: "cluster" },
      { label: "Topologies", href: "/topologies", icon: "Distributed", resource: "network-topologies" },
    ],
  },
  {
    group: "Assets",
    pages: [
      { label: "Environments", href: "/assets/environments", icon: "asset", resource: "environments" },
      { label: "Compute resources", href: "/assets/compute", icon: "chip", resource: "compute-resources" },
      { label: "Templates", href: "/assets/templates", icon: "copy", resource: "templates" },
      { label: "Data sources", href: "/assets/data-sources", icon: "folder", anyOf: SOURCES },
      { label: "Credentials", href: "/assets/credentials", icon: "lock", resource: "credentials" },
    ],
  },
  {
    group: "Manage",
    pages: [
      { label: "Users", href: "/access/users", icon: "people", resource: "users" },
      {
        label: "Service accounts",
        href: "/access/service-accounts",
        icon: "bot",
        resource: "service-account",
      },
      { label: "Access rules", href: "/access/rules", icon: "key", resource: "access_rules" },
      { label: "Roles", href: "/access/roles", icon: "check", resource: "roles" },
      { label: "Identity", href: "/access/identity", icon: "out", resource: "security-settings" },
      { label: "Policies", href: "/policies", icon: "rule", resource: "policies" },
      { label: "Settings", href: "/settings", icon: "cols", resource: "settings", also: "general settings" },
      { label: "Audit", href: "/audit", icon: "edit", resource: "events-history" },
    ],
  },
];

export const visible = (page: NavPage) =>
  page.anyOf ? page.anyOf.some(type => may("read", type)) : !page.resource || may("read", page.resource);
export const groups = () => NAV.map(g => ({ ...g, pages: g.pages.filter(visible) })).filter(g => g.pages.length);
export const allPages = () => groups().flatMap(g => g.pages);

// Where one begins: Overview for who may read the cluster, else one's own workloads.
export function home() {
  if (may("read", "nodes") || !may("read", "workloads")) return "/";
  return `/workloads?f=submittedBy==${encodeURIComponent(session.value.who?.name ?? "")}`;
}

// Where to go after signing in: to the page that was asked for, if it is one of ours and not the sign-in page.
export const landing = (from?: string) => (/^\/(?!\/|sign-in\b|$)/.test(from ?? "") ? from! : home());

// Is `path` this page or below it?
export const isCurrent = (page: NavPage, path: string) =>
  page.href === "/" ? path === "/" : path === page.href || path.startsWith(page.href + "/");
