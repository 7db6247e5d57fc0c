// A server for the browser tests that need a large, still, made-up organisation: serves the built pages with the product's
// headers and answers the reads that the pages make. What is decided, counted or refused is tested against the real one.
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { join, normalize } from "node:path";
import { access, subjectsIn } from "./mock_access.mjs";
import { CLUSTER, makeData, metrics, readings } from "./mock_data.mjs";
import { about, counts, nodesInBrief, overview } from "./mock_overview.mjs";
import { explanation, fairshare, forecastOf, idle, queueOrder, receipts, timeline, waiting, whatIf } from "./mock_scheduler.mjs";

export const CSP = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
const TYPES = { js: "text/javascript", css: "text/css", html: "text/html; charset=utf-8", svg: "image/svg+xml", woff2: "font/woff2", txt: "text/plain" };
const pageOf = pattern => new RegExp(`^${pattern.replaceAll("*", "[^/]+")}$`);

const POLICY = {
  meta: { id: "00000000-0000-4000-8000-000000000810", name: "language-trainings", scope: "project", projectId: "1", createdBy: "mira@lab.example", createdAt: "2026-11-20T10:00:00.000Z", updatedBy: "mira@lab.example", updatedAt: "2026-11-20T10:00:00.000Z" },
  defaults: { compute: { gpuDevicesRequest: 1 } },
  rules: { compute: { gpuDevicesRequest: { max: 8 }, cpuCoreRequest: { required: true } }, imagePullPolicy: { options: [{ value: "Always" }] } },
};

const SETTINGS = [
  ["cpuQuota", "CPU quota", "Projects and departments have quotas of CPU and memory beside those of GPUs"],
  ["departments", "Departments", "Projects belong to departments, which have quotas of their own"],
  ["overQuotaWeight", "Over-quota weight", "What is left over is divided by weights"],
];

const READS = { "/api/v1/workloads": "workloads", "/api/v1/org-unit/projects": "project", "/api/v1/org-unit/departments": "department", "/api/v1/nodes": "nodes", "/api/v1/overview/nodes": "nodes", "/api/v1/node-pools": "nodepools", "/api/v1/clusters": "cluster" };

const PARTS = { cluster: ["clusters"], nodes: ["nodePools", "notReady"], workloads: ["phases", "waiting"], project: ["projects"] };

const field = (row, name) => name === "nodepool" ? row.requestedNodePools?.[0] : name === "allocatedGPU" ? row.allocatedResources?.gpu : row[name];
const TESTS = { "==": (a, b) => String(a) === b, "!=": (a, b) => String(a) !== b, "=@": (a, b) => String(a ?? "").toLowerCase().includes(b.toLowerCase()), ">=": (a, b) => (isNaN(b) ? a >= b : Number(a) >= Number(b)), "<=": (a, b) => (isNaN(b) ? a <= b : Number(a) <= Number(b)) };

// What a list operation does with its query: filter, search, sort, page.
export function list(rows, query, key) {
  const filters = (query.get("filterBy") ?? "").split(",").filter(Boolean).map(f => /^(\w+)(==|!=|=@|>=|<=)(.*)$/.exec(f));
  let found = rows.filter(r => filters.every(f => f && (f[2] === "==" ? filters.filter(o => o[1] === f[1] && o[2] === "==") : [f]).some(o => TESTS[o[2]](field(r, o[1]), o[3]))));
  const search = (query.get("search") ?? "").toLowerCase();
  if (search) found = found.filter(r => [r.name, r.projectName, r.submittedBy].some(v => v?.toLowerCase().includes(search)));
  const by = query.get("sortBy");
  if (by) found = [...found].sort((a, b) => (field(a, by) > field(b, by) ? 1 : field(a, by) < field(b, by) ? -1 : 0) * (query.get("sortOrder") === "desc" ? -1 : 1));
  const offset = Number(query.get("offset") ?? 0), limit = Number(query.get("limit") ?? 50);
  const page = found.slice(offset, offset + limit);
  return { count: found.length, body: key ? { [key]: page, ...(offset + limit < found.length ? { next: offset + limit } : {}) } : page };
}

const CLUSTERS = at => [
  { uuid: CLUSTER, name: "lab", tenantId: 1, createdAt: new Date(at).toISOString(), updatedAt: new Date(at).toISOString(), version: "0.1.0", status: { state: "Connected" }, lastLiveness: new Date(at).toISOString() },
  { uuid: CLUSTER.replace(/^./, "9"), name: "second", tenantId: 1, createdAt: new Date(at).toISOString(), version: null, status: { state: "WaitingToConnect" }, lastLiveness: null },
];

// A create operation's body -> what the what-if of the mock reads of it.
function asked({ workload: { projectId, spec } }) {
  const each = spec.compute.gpuPortionRequest ?? spec.compute.gpuDevicesRequest ?? 0;
  return { projectId, nodePools: spec.nodePools, gpus: each * (spec.numWorkers ? spec.numWorkers + 1 : spec.parallelism ?? 1) };
}

// What lists of projects and departments tell of each.
const withNumbers = data => unit => {
  const above = unit.parentId ?? unit.id, mine = unit.parentId ? [unit.id] : data.projects.filter(p => p.parentId === unit.id).map(p => p.id);
  const places = [["tenant", "1"], ["department", above], ["project", unit.parentId && unit.id]];
  return { ...unit, prorata: { workloads: data.workloads.filter(w => mine.includes(w.projectId)).length, subjects: subjectsIn(places) } };
};

function answer(data, path, query, body) {
  const lists = { "/api/v1/workloads": ["workloads", data.workloads], "/api/v1/org-unit/projects": ["projects", data.projects.map(withNumbers(data))], "/api/v1/org-unit/departments": ["departments", data.departments.map(withNumbers(data))], "/api/v1/nodes": ["nodes", data.nodes], "/api/v1/node-pools": ["nodepools", data.pools], "/api/v1/events": ["events", data.events.filter(e => !query.get("workloadId") || e.workloadId === query.get("workloadId"))] };
  const counted = path.endsWith("/count");
  for (const w of data.workloads) if (w.phase === "Pending") w.explanation ??= { sentence: w.phaseMessage, code: "NotEnoughGpus", forecast: forecastOf(data.at, w) };
  const found = lists[path.replace(/\/count$/, "")];
  if (found) {
    const { count, body } = list(found[1], query, found[0]);
    return counted ? { count } : body;
  }
  const ofPeople = access(path, query, list);
  if (ofPeople) return ofPeople;
  if (path === "/api/v1/overview") return overview(data);
  if (path === "/api/v1/overview/nodes") return nodesInBrief(data);
  if (path === "/api/v1/overview/counts") return counts(data);
  if (path === "/api/v1/scheduler/what-if") return whatIf(data, asked(body));
  if (path === "/api/v1/scheduler/fairshare") return fairshare(data, query.get("nodePool"));
  if (path === "/api/v1/scheduler/queue") return queueOrder(data, query.get("nodePool"), Number(query.get("offset") ?? 0), Number(query.get("limit") ?? 50));
  if (path === "/api/v1/scheduler/waiting") return waiting(data);
  if (path === "/api/v1/workloads/idle") return idle(data, query);
  if (path === "/api/v1/scheduler/timeline") return timeline(data, query);
  if (path === "/api/v1/scheduler/decisions") return { cycles: [{ cycle: 4711, time: query.get("at") ?? query.get("until"), planMicroseconds: 900, decisions: 1, ...(query.get("at") ? { decided: [{ action: "allocate", verb: "bind", workload: "vit-giant", pod: "vit-giant-0", node: "gpu-h01", why: "within its fair share" }] } : {}) }] };
  if (path === "/api/v1/scheduler/receipts") return receipts(data, query);
  if (path === "/api/v1/network-topologies") return { networkTopologies: [{ id: "00000000-0000-4000-8000-000000000801", name: "racks", phase: "Ready", status: { message: "" }, createdAt: "2025-11-03T10:00:00.000Z", createdBy: "ana@example.org", nodePools: ["h100"], levels: ["example.com/rack", "kubernetes.io/hostname"] }] };
  if (path === "/api/v1/about") return about(data.at);
  if (path === "/api/v1/clusters") return CLUSTERS(data.at);
  if (path === `/api/v1/clusters/${CLUSTER}`) return CLUSTERS(data.at)[0];
  if (path.endsWith("/metrics")) return metrics(data.at, query.get("metricType").split(","), query.get("start"), query.get("end"), query.get("numberOfSamples"));
  if (path === "/api/v1/workloads/telemetry") {
    const phases = new Map();
    for (const w of data.workloads) phases.set(w.phase, (phases.get(w.phase) ?? 0) + 1);
    return { type: "WORKLOADS_COUNT", timestamp: new Date().toISOString(), values: [...phases].map(([value, n]) => ({ value: String(n), groups: [{ key: "Phase", value }] })) };
  }
  if (path === "/api/v1/notification-types" || path === "/api/v1/notification-channels" || path === "/api/v1/subscriptions") return [];
  if (path === "/api/v1/workload-templates") return { entries: [], pagination: { limit: 500, offset: 0, nextOffset: 0 } };
  if (path === "/api/v2/policy") return { policies: [{ type: "training", meta: POLICY.meta }] };
  if (path.startsWith("/api/v2/policy/")) return path.endsWith("trainings") ? { policy: POLICY, effective: POLICY, effectiveUpdatedAt: POLICY.meta.updatedAt } : { policy: null, effective: { defaults: {}, rules: {} }, effectiveUpdatedAt: POLICY.meta.updatedAt };
  if (path.startsWith("/api/v1/asset/")) return { entries: path.endsWith("compute") ? data.computes : data.environments };
  if (path === "/api/v1/authorization/permitted-scopes") {
    const everywhere = { system: false, tenants: ["1"], clusters: [], departments: [], projects: [] };
    return { create: everywhere, read: everywhere, update: everywhere, delete: everywhere };
  }
  if (path === "/api/v1/org-unit/priorities") return { priorities: ["VeryLow", "Low", "MediumLow", "Medium", "MediumHigh", "High", "VeryHigh"].map((name, i) => ({ name, value: i, isDefault: name === "MediumLow" })) };
  if (path === "/api/v1/workloads/pods") {
    const node = data.nodes.find(n => `nodeName==${n.name}` === query.get("filterBy"));
    const ids = new Set(node?.prorata.devices.flatMap(d => d.workloads.map(w => w.id)));
    return { pods: data.workloads.filter(w => ids.has(w.id)).map(w => ({ id: `${w.id}-0`, name: `${w.name}-0-0`, workloadId: w.id, projectId: w.projectId, projectName: w.projectName, nodeName: node.name, k8sPhase: "Running", containers: [{ name: "main", image: w.images?.[0] }], createdAt: w.createdAt, allocatedResources: { gpu: 8, cpu: 0.5, cpuMemory: "16Gi" } })) };
  }
  if (path === "/api/v1/devices") return { nodes: list(data.nodes, query, null).body.map(n => readings(n, data.at)) };
  if (path === "/api/v1/nodes/telemetry") return { type: query.get("telemetryType"), timestamp: new Date().toISOString(), values: [{ value: "6" }] };
  const one = /^\/api\/v1\/(workloads|nodes|node-pools|org-unit\/projects|org-unit\/departments)\/(?:(?:trainings|workspaces|distributed|inferences)\/)?([^/]+)(\/([\w-]+))?$/.exec(path);
  if (!one) return null;
  const rows = { workloads: data.workloads, nodes: data.nodes, "node-pools": data.pools, "org-unit/projects": data.projects, "org-unit/departments": data.departments }[one[1]];
  const row = rows.find(r => r.id === one[2] || r.name === one[2]);
  if (!row) return null;
  if (one[4] === "explanation") return explanation(data, row);
  if (one[4] === "what-if") return whatIf(data, { ...row, gpus: row.workloadRequestedResources.gpu.request });
  if (one[4] === "pods") return { pods: row.places.map(([n], i) => ({ id: `${row.id}-${i}`, name: `${row.name}-${i}-0`, workloadId: row.id, nodeName: `node-${n}`, k8sPhase: "Running", containers: [{ name: "main", image: row.images[0] }], createdAt: row.createdAt, allocatedResources: { gpu: 8 } })) };
  return row;
}

// What each container has printed before one looks: colours, letters from the right, and one line that would turn its own end around.
const LINES = 120;
const LOG = Array.from({ length: LINES }, (_, i) => `2026-11-22T10:00:00.000Z step ${i + 1} \u001b[32mok\u001b[0m \u0645\u0631\u062d\u0628\u0627${i === 5 ? " --flag=\u202evalue" : ""} end\n`);

function frame(kind, text) {
  const data = Buffer.from(text), head = Buffer.alloc(5);
  head.write(kind);
  head.writeUInt32BE(data.length, 1);
  return Buffer.concat([head, data]);
}

// Starts on a free port. {url, data, folder (which may change), change(kind, id), print(line), tear(line), note(text), end(), close()}; signedIn: false makes every call answer 401.
export async function startMock(folder, { scale = 1, permissions } = {}) {
  const data = makeData(Date.now(), scale);
  const mock = { folder, begins: [], places: [] }; // begins, places: where streams and followed logs wanted to begin
  const printed = [...LOG];
  const lines = from => frame("l", `${printed.length}\n${printed.slice(from).join("")}`);
  const pages = JSON.parse(await readFile(`${folder}-pages.json`, "utf8")).map(pageOf);
  const streams = new Set(), logs = new Set();
  const server = createServer(async (request, response) => {
    const url = new URL(request.url, "http://mock");
    const send = (status, type, body, more = {}) => response.writeHead(status, { "Content-Type": type, "Content-Security-Policy": CSP, "X-Content-Type-Options": "nosniff", ...more }).end(body);
    const json = (status, body) => send(status, "application/json", JSON.stringify(body));
    if (url.pathname === "/api/v1/session") {
      if (request.method !== "GET") data.signedIn = request.method === "POST";
      return data.signedIn ? json(200, { subjectType: "user", subjectId: "1", name: "mira@lab.example", roles: [{ roleId: 1, roleName: "System administrator", scopeType: "tenant", scopeId: "1", scopeName: "prorata" }], expiresAt: new Date(Date.now() + 3600000).toISOString(), revision: data.revision, permissions }) : request.method === "DELETE" ? send(204, "text/plain", "") : json(401, { code: 401, message: "sign in first" });
    }
    if (url.pathname === "/api/v1/authentication/openid") return json(200, { enabled: false, name: null });
    if (url.pathname === "/api/v1/authentication/openid/sign-out") {
      data.signedIn = false;
      return json(200, { url: null });
    }
    if (url.pathname.startsWith("/api/") && !data.signedIn) return json(401, { code: 401, message: "sign in first" });
    if (url.pathname === "/api/v1/events/stream") {
      mock.begins.push(url.searchParams.get("lastEventId"));
      response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-cache" }).write(": hello\n\n");
      streams.add(response);
      request.on("close", () => streams.delete(response));
      return undefined;
    }
    const kind = Object.entries(READS).find(([path]) => url.pathname.startsWith(path))?.[1];
    if (permissions && kind && !permissions.some(p => p.resourceType === kind && p.actions.includes("read"))) return json(403, { code: 403, message: `your roles do not allow to read ${kind}` });
    if (/^\/api\/v1\/workloads\/[^/]+\/logs$/.test(url.pathname)) {
      if (!url.searchParams.has("frames")) return send(200, "text/plain; charset=utf-8", printed.join(""));
      const from = url.searchParams.get("position") ?? "";
      mock.places.push(from);
      if (!from) printed.length = LINES; // a view of its own
      response.writeHead(200, { "Content-Type": "application/octet-stream" }).write(lines(Number(from)));
      logs.add(response);
      request.on("close", () => logs.delete(response));
      return undefined;
    }
    if (/^\/api\/v[12]\//.test(url.pathname)) {
      const body = answer(data, url.pathname, url.searchParams, request.method === "POST" ? JSON.parse(Buffer.concat(await request.toArray()).toString()) : null);
      if (body && permissions && url.pathname === "/api/v1/overview") for (const [kind, keys] of Object.entries(PARTS)) if (!permissions.some(p => p.resourceType === kind)) for (const key of keys) delete body[key];
      return body ? json(200, body) : json(404, { code: 404, message: `${url.pathname}: unknown` });
    }
    if (url.pathname === "/v1/k8s/setting") return json(200, SETTINGS.map(([key, label, description]) => ({ key, label, description, value: "true" })));
    const path = pages.some(page => page.test(url.pathname)) ? "/index.html" : url.pathname;
    if (/text\/html/.test(request.headers.accept)) response.setHeader("Set-Cookie", `prorata_signed_in=1; Path=/${data.signedIn ? "" : "; Max-Age=0"}`);
    try {
      const file = await readFile(join(mock.folder, normalize(path)));
      return send(200, TYPES[path.split(".").at(-1)] ?? "application/octet-stream", file);
    } catch {
      if (/text\/html/.test(request.headers.accept)) return send(404, TYPES.html, await readFile(join(mock.folder, "index.html")));
      return json(404, { code: 404, message: "no such page" });
    }
  });
  await new Promise(done => server.listen(0, "127.0.0.1", done));
  Object.assign(mock, {
    url: `http://127.0.0.1:${server.address().port}`,
    data,
    reset() {
      data.revision = 1;
      for (const stream of streams) stream.write('id: 1\nevent: reset\ndata: {"revision":1}\n\n');
    },
    change(kind, id) {
      data.revision += 1;
      for (const stream of streams) stream.write(`id: ${data.revision}\nevent: change\ndata: ${JSON.stringify({ kind, id, revision: data.revision })}\n\n`);
    },
    print(line) {
      printed.push(line + "\n");
      for (const log of logs) log.write(lines(printed.length - 1));
    },
    // Logs that are followed break off, in the midst of a line that only then is printed.
    tear(line) {
      printed.push(line + "\n");
      for (const log of logs) log.write(lines(printed.length - 1).subarray(0, -3), () => log.destroy());
    },
    // The next attempt begins; what it prints comes behind.
    note(text) {
      for (const log of logs) log.write(frame("n", `${printed.length}\n${text}`));
    },
    end() {
      for (const log of logs) log.end(frame("x", "0 "));
    },
    close() {
      for (const stream of [...streams, ...logs]) stream.destroy();
      server.closeAllConnections();
      return new Promise(done => server.close(done));
    },
  });
  return mock;
}
