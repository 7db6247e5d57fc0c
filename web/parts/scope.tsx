// One choice for all pages, kept per tab: everything, a department, or a project.
import type { ComponentChildren } from "preact";
import { getAll } from "../api";
import { useData } from "../data";
import { Icon } from "../icons";
import { type Scope, may, scope, setScope } from "../session";
import { Popover } from "./menu";
import { Loaded } from "./states";
import { Swatch } from "./status";

export function ScopeButton() {
  const at = scope.value;
  return (
    <Popover small icon={at?.projectId ? "project" : "dept"} class="hide-s" text={at ? at.name : "All departments"}>
      {close => <Choices close={close} />}
    </Popover>
  );
}

function Choices({ close }: { close: () => void }) {
  const units = useData("scope", async abort => {
    const [departments, projects] = await Promise.all([
      may("read", "department")
        ? getAll("/api/v1/org-unit/departments", "departments", { sortBy: "name" }, { signal: abort })
        : [],
      getAll("/api/v1/org-unit/projects", "projects", { sortBy: "name" }, { signal: abort }),
    ]);
    const known = new Map([...departments, ...projects.flatMap(p => p.parent ?? [])].map(d => [d.id, d]));
    return [...known.values()].map(d => ({ ...d, projects: projects.filter(p => p.parentId === d.id) }));
  });
  const choose = (value: Scope | null) => {
    setScope(value);
    close();
  };
  const at = scope.value;
  const row = (value: Scope | null, current: boolean, more: string, content: ComponentChildren) => (
    <li key={value?.projectId ?? value?.departmentId ?? "all"}>
      <button type="button" class={"btn quiet " + more} aria-pressed={current} onClick={() => choose(value)}>
        {content}
      </button>
    </li>
  );
  return (
    <ul class="menu scope" aria-label="Scope">
      {row(
        null,
        !at,
        "",
        <>
          <Icon name="dept" />
          All departments
        </>,
      )}
      <Loaded of={units} what="Departments and projects">
        {list =>
          list.map(d => (
            <>
              {row({ departmentId: d.id, name: d.name }, at?.departmentId === d.id && !at.projectId, "strong", d.name)}
              {d.projects.map(p =>
                row(
                  { departmentId: d.id, projectId: p.id, name: p.name },
                  at?.projectId === p.id,
                  "inset",
                  <>
                    <Swatch project={p.id} />
                    {p.name}
                  </>,
                ),
              )}
            </>
          ))
        }
      </Loaded>
    </ul>
  );
}
