// What of a workload can be reached, and where: its URLs and its ports.
import { signal } from "@preact/signals";
import { NONE } from "../format";
import { Button } from "../parts/button";
import { Dialog } from "../parts/dialog";
import { Menu } from "../parts/menu";
import { post } from "../api";
import { toast, toastError } from "../parts/toast";
import { session } from "../session";
import type { Workload } from "../types";

type Reached = Pick<Workload, "id" | "name" | "phase" | "externalConnections">;

const shown = signal<Reached | null>(null);
const listOf = (w: Reached) => w.externalConnections ?? [];
// What is no web address is never a link, nor is a Service's name, which the cluster alone resolves.
const isWeb = (url = "") => /^https?:\/\//i.test(url) && !/^\w+:\/\/[^/]+\.svc(:\d+)?$/i.test(url);
const nameOf = (c: { name: string; toolType: string }) => c.name || c.toolType;
const TYPES: Record<string, string> = {
  ExternalUrl: "External URL",
  ServingPort: "Serving port",
  ClusterIP: "In the cluster",
};
const ACCESS: Record<string, string> = {
  authenticatedUsers: "Who is signed in",
  authorizedUsersOrGroups: "Some people or groups",
};
type Connection = NonNullable<Reached["externalConnections"]>[number];
// An exposed URL without an address of its own: the server gives one where it opens any.
const canOpen = (c: Connection) =>
  session.value.who?.opensUrls === true && c.connectionType === "ExternalUrl" && !c.url && !!c.containerPort;
// The tab opens at the click: browsers let none open once the answer has come. It learns nothing of this one.
async function openPort(w: Reached, port?: number) {
  const tab = window.open("", "_blank");
  if (tab) tab.opener = null;
  try {
    const { url = "" } = await post(`/api/v1/workloads/${w.id}/open`, { port });
    if (!tab) throw new Error("The browser let no tab open.");
    if (isWeb(url)) tab.location.replace(url);
  } catch (error) {
    tab?.close();
    toastError(error);
  }
}
const copy = (text: string) => navigator.clipboard?.writeText(text).then(() => toast("Copied."));

/** How many there are; a click lists them. */
export const ConnectionCount = ({ workload: w }: { workload: Reached }) =>
  listOf(w).length ? (
    <Button small kind="quiet" label={`Connections of ${w.name}`} onClick={() => (shown.value = w)}>
      {listOf(w).length}
    </Button>
  ) : (
    NONE
  );

/** The addresses of its tools, and all that can be reached. */
export function Connect({ workload: w }: { workload: Workload }) {
  const tools = listOf(w).filter(c => isWeb(c.url));
  if (!listOf(w).length) return null;
  if (w.phase !== "Running")
    return (
      <Button small icon="play" why="Its tools answer while it runs.">
        Connect
      </Button>
    );
  const all = { label: "Ports and addresses", onClick: () => (shown.value = w) };
  return (
    <Menu
      small
      icon="play"
      text="Connect"
      items={[
        ...tools.map(c => ({ label: [nameOf(c), c.url].filter(Boolean).join(": "), href: c.url })),
        ...listOf(w)
          .filter(canOpen)
          .map(c => ({
            label: [nameOf(c), `port ${c.containerPort}`].filter(Boolean).join(": "),
            onClick: () => void openPort(w, c.containerPort),
          })),
        all,
      ]}
    />
  );
}

/** The dialog that both open; once a page. */
export function Connections() {
  const w = shown.value;
  if (!w) return null;
  const close = () => (shown.value = null);
  return (
    <Dialog labelledby="connections-title" class="wide" onClose={close}>
      <h2 id="connections-title">Connections of {w.name}</h2>
      <div class="scroll" tabindex={0} role="region" aria-label="Connections">
        <table class="share">
          <thead>
            <tr>
              {["Name", "Connection type", "Access", "Port", "Address"].map(head => (
                <th key={head} scope="col">
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {listOf(w).map((c, i) => (
              <tr key={i}>
                <td class="strong">{nameOf(c) || NONE}</td>
                <td>{TYPES[c.connectionType] ?? c.connectionType}</td>
                <td>{ACCESS[c.authorizationType ?? ""] ?? (c.url ? "Everybody" : NONE)}</td>
                <td>{c.containerPort ?? NONE}</td>
                <td class="mono">
                  {c.url ?? NONE}{" "}
                  {c.url && (
                    <Button small kind="quiet" icon="copy" label={`Copy ${c.url}`} onClick={() => copy(c.url!)} />
                  )}
                  {isWeb(c.url) && w.phase === "Running" && (
                    <a href={c.url} target="_blank" rel="noopener noreferrer">
                      Connect
                    </a>
                  )}
                  {canOpen(c) && w.phase === "Running" && (
                    <Button small kind="quiet" onClick={() => openPort(w, c.containerPort)}>
                      Connect
                    </Button>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <div class="acts">
        <Button onClick={close}>Close</Button>
      </div>
    </Dialog>
  );
}
