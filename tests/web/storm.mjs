// A storm of changes on the page's event stream: a server in front of the real one that passes everything on, and tells on
// the stream of changes that never were. Each names a thing that is there, so that pages ask again as after a real change.
//   const storm = await startStorm(url, 500); storm.url, storm.sent(), storm.stop()
import { Agent, createServer, request } from "node:http";
import { clearInterval, setInterval } from "node:timers";

const KINDS = ["workload", "pod", "workload", "pod", "event", "project", "node", "workload"];
const TICK_MS = 20;

export async function startStorm(url, perSecond) {
  const streams = new Set(), sockets = new Set(), agent = new Agent({ keepAlive: true });
  const { host, hostname, port } = new URL(url);
  let revision = 1e9, sent = 0, owed = 0, before = Date.now();
  const server = createServer((from, to) => {
    const isStream = from.url.startsWith("/api/v1/events/stream");
    const passed = request({ hostname, port, path: from.url, method: from.method, headers: { ...from.headers, host }, agent: isStream ? false : agent }, answer => {
      to.writeHead(answer.statusCode, answer.headers);
      answer.pipe(to);
      if (isStream) streams.add(to);
    });
    passed.on("error", () => to.destroy());
    to.on("close", () => {
      streams.delete(to);
      if (isStream) passed.destroy();
    });
    from.pipe(passed);
  });
  server.on("connection", socket => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  const timer = setInterval(() => {
    const now = Date.now();
    owed += (perSecond * (now - before)) / 1000; // by the clock: on a busy machine ticks come late
    before = now;
    for (; owed >= 1; owed--) {
      revision += 1;
      const kind = KINDS[revision % KINDS.length], id = `00000000-0000-4000-8000-${String(revision % 1500).padStart(12, "0")}`;
      for (const stream of streams) stream.write(`id: ${revision}\nevent: change\ndata: ${JSON.stringify({ kind, id, revision })}\n\n`);
      sent += streams.size > 0;
    }
  }, TICK_MS);
  await new Promise(done => server.listen(0, "127.0.0.1", done));
  const stop = () => {
    clearInterval(timer);
    for (const socket of sockets) socket.destroy();
    agent.destroy();
    return new Promise(done => server.close(done));
  };
  return { url: `http://127.0.0.1:${server.address().port}`, sent: () => sent, stop };
}
