// What a redraw of the cluster map costs: 2,000 nodes of 8 GPUs, each size and view, in a browser without a GPU. A redraw
// is all calls of the pen and their pixels: one of them is read back. The time of the main thread does not grow with what
// else the machine does.
import { createRequire } from "node:module";
import { launch, ROOT } from "../../tests/web/browser.mjs";

const { build } = createRequire(`${ROOT}/web/package.json`)("esbuild");
const NODES = 2000, GPUS = 8, REDRAWS = 40, WIDTH = 1156, HEIGHT = 1500; // of a window of 900 what is in sight, and 200 on either side and to scroll

// Drawn in the page: every name is lifted in turn, so that no picture is the one before.
function measure({ nodes, gpus, redraws, width, height, zoom, view }) {
  const { groupsIn, layout, nodesInBrief, paintMap, poolsOf, within } = window.map;
  const workloads = Array.from({ length: 6000 }, (_, i) => ({ id: String(i), name: `vit-giant-${i}`, projectId: String(i % 500 + 1), projectName: `p${i % 500}`, departmentId: String(i % 20 + 1), departmentName: `d${i % 20}`, preemptible: i % 5 > 0 }));
  let next = 0;
  const held = n => [[0, 1, 2, 3], [4, 5], [6], [7]].slice(0, n % 9 ? 4 : 3).map(list => ({ workload: next++ % 6000, gpus: list, share: 1 }));
  const brief = Array.from({ length: nodes }, (_, n) => ({ id: `n${n}`, name: `gpu-${n}`, nodePool: `pool-${n % 5}`, status: "Ready", cordoned: n % 50 === 0, gpuType: "H100", gpuCount: gpus, gpusDown: n % 70 ? [] : [3], gpusIdle: n % 4 ? [] : [0, 1], utilization: Array.from({ length: gpus }, (_, g) => (n * 7 + g * 13) % 101), held: held(n) }));
  const pools = poolsOf(nodesInBrief({ nodes: brief, workloads })), groups = groupsIn(pools, view), map = layout(pools, { width, zoom });
  const style = getComputedStyle(document.documentElement), tone = new Proxy({}, { get: (_, name) => style.getPropertyValue(`--${name}`) || "#567" });
  const tones = Object.fromEntries(["surface", "sunken", "line-strong", "ink", "ink-2", "ink-3", "on-ink", "bad", "bad-soft", "warn", "ok", "ok-soft", "accent", ...[1, 2, 3, 4, 5, 6, 7, 8].flatMap(i => [`p${i}`, `on${i}`])].map(t => [t, tone[t]]));
  const canvas = document.body.appendChild(document.createElement("canvas")), ids = [...groups.keys()], times = [];
  for (let i = 0; i < redraws; i++) {
    const start = performance.now();
    canvas.width = width;
    canvas.height = Math.min(height, Math.round(map.height));
    const pen = canvas.getContext("2d");
    paintMap(pen, { map: within(map, 0, canvas.height), zoom, view, groups, lifted: i % 2 ? ids[i % ids.length] : null, at: null, tone: tones, texture: () => "#888" });
    pen.getImageData(0, 0, 1, 1);
    times.push(performance.now() - start);
  }
  canvas.remove();
  return times.sort((a, b) => a - b);
}

const { outputFiles } = await build({
  stdin: { contents: ["cluster_canvas", "cluster_map", "map_paint"].map(name => `export * from "./pictures/${name}";`).join("\n"), resolveDir: `${ROOT}/web` },
  bundle: true, write: false, format: "iife", globalName: "map", target: "es2020", logLevel: "warning",
});
const browser = await launch(), page = await browser.newPage(), inside = await page.context().newCDPSession(page);
await inside.send("Performance.enable", { timeDomain: "threadTicks" });
const thread = async () => 1000 * (await inside.send("Performance.getMetrics")).metrics.find(m => m.name === "TaskDuration").value;
await page.evaluate(outputFiles[0].text.replace("var map =", "window.map ="));
console.log(`# the cluster map, ${NODES} nodes of ${GPUS} GPUs, a redraw in ms: of the main thread; on the clock the median and the slowest of ${REDRAWS}`);
for (const [zoom, size] of ["large", "medium", "small"].entries())
  for (const view of ["project", "utilization"]) {
    const start = await thread(), times = await page.evaluate(measure, { nodes: NODES, gpus: GPUS, redraws: REDRAWS, width: WIDTH, height: HEIGHT, zoom, view });
    console.log(`${size}, by ${view}: ${((await thread() - start) / REDRAWS).toFixed(1)}; ${times[REDRAWS >> 1].toFixed(1)}, ${times.at(-1).toFixed(1)}`);
  }
await browser.close();
