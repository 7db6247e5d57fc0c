// Modules of the dashboard for tests: bundled, for Node reads no TypeScript.
//   const { plural } = await load("format");
// Names are paths in web/ without their ending. Modules that share state are loaded in one call: `load(a, b)` has the
// exports of both.
import { createRequire } from "node:module";
import { ROOT } from "./browser.mjs";

const { build } = createRequire(`${ROOT}/web/package.json`)("esbuild");

export async function load(...names) {
  const { outputFiles } = await build({
    stdin: { contents: names.map(name => `export * from "./${name}";`).join("\n"), resolveDir: `${ROOT}/web` },
    bundle: true,
    write: false,
    format: "esm",
    target: "node18",
    jsx: "automatic",
    jsxImportSource: "preact",
    logLevel: "warning",
  });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`);
}
