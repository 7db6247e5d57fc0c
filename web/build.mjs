// Bundles the dashboard into the folder given as argument: hashed scripts and styles, index.html, the font, Swagger UI for
// /api/docs, the licences. The server embeds the folder.
import { build } from "esbuild";
import { execFileSync } from "node:child_process";
import { copyFile, mkdir, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { minify } from "terser";
import { policySchema } from "./policy_schema.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const out = resolve(process.argv[2] ?? join(here, "../build/web"));
const modules = join(here, "node_modules");

await rm(out, { recursive: true, force: true });
await mkdir(join(out, "docs"), { recursive: true });

// What our charts don't use of Chart.js. esbuild keeps a class whose static fields read a property, for a getter might do
// something: here none does, so that the scales of other charts can go. Colours are mixed only to animate and to hover.
// Nothing is animated, so that of the easings one is enough; all lines are steps, so that curves can go.
const lean = {
  name: "lean",
  setup: bundle => {
    bundle.onLoad({ filter: /chart\.js[\\/]dist[\\/]chart\.js$/ }, async ({ path }) => ({
      contents: (await readFile(path, "utf8")).replace(
        /(?<=callback: |static defaults = )(Ticks\.formatters\.\w+|TimeScale\.defaults)/g,
        "/* @__PURE__ */ (() => $1)()",
      ),
    }));
    bundle.onLoad({ filter: /chart\.js[\\/]dist[\\/]chunks[\\/]index\.js$/ }, async ({ path }) => {
      let text = await readFile(path, "utf8");
      for (const [from, to] of [
        [/const effects = \{\n[\s\S]*?\n\};/, "const effects = { linear: t => t };"],
        [/(function _updateBezierControlPoints\(.*\{)\n[\s\S]*?\n\}/, "$1}"],
      ]) {
        if (!from.test(text)) throw new Error(`Chart.js does not have ${from}`);
        text = text.replace(from, to);
      }
      return { contents: text };
    });
    bundle.onLoad({ filter: /@kurkle[\\/]color[\\/].*\.js$/ }, () => ({
      contents: 'export function Color() { throw new Error("no colours are mixed here"); }',
    }));
  },
};

// import url from "policy-schema": where what the editor of policies completes lies. Data, and asked for by few.
const policies = {
  name: "policies",
  setup: bundle => {
    bundle.onResolve({ filter: /^policy-schema$/ }, ({ path }) => ({
      path: `${path}.json`,
      namespace: "policies",
    }));
    bundle.onLoad({ filter: /.*/, namespace: "policies" }, async () => ({
      contents: JSON.stringify(await policySchema(join(here, "../openapi/openapi.yaml"))),
      loader: "file",
    }));
  },
};

// xterm.js makes elements and attributes of style, which the page's policy forbids: style sheets and properties do instead.
const sheets = {
  name: "sheets",
  setup: bundle => {
    bundle.onLoad({ filter: /@xterm[\\/]xterm[\\/]lib[\\/]xterm\.mjs$/ }, async ({ path }) => {
      const swap = (text, from, to, times) => {
        if (text.match(from)?.length !== times) throw new Error(`xterm.js does not have ${from} ${times} times`);
        return text.replace(from, to);
      };
      const text = await readFile(path, "utf8");
      const elements = swap(text, /([\w.]+)\.createElement\("style"\)/g, "styleElement($1)", 3);
      const attribute = /(\w+)\.setAttribute\("style",`\$\{\1\.getAttribute\("style"\)\|\|""\}(\$\{\w+\};)`\)/g;
      return {
        contents:
          `import { styleElement } from ${JSON.stringify(join(here, "parts/style_element.ts"))};` +
          swap(elements, attribute, "$1.style.cssText+=`$2`", 1),
      };
    });
    bundle.onResolve({ filter: /^terminal-style$/ }, ({ path }) => ({ path, namespace: "sheets" }));
    bundle.onLoad({ filter: /.*/, namespace: "sheets" }, async () => {
      const style = { entryPoints: [join(here, "style/terminal.css")], bundle: true, minify: true, write: false };
      return { contents: (await build(style)).outputFiles[0].text, loader: "text" };
    });
  },
};

const result = await build({
  absWorkingDir: here,
  entryPoints: ["main.tsx", "theme.ts", "style.css"],
  bundle: true,
  splitting: true,
  format: "esm",
  minify: true,
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  outdir: join(out, "assets"),
  entryNames: "[name]-[hash]",
  chunkNames: "[name]-[hash]",
  assetNames: "[name]-[hash]",
  loader: { ".woff2": "file" },
  publicPath: "/assets",
  legalComments: "none",
  charset: "utf8",
  treeShaking: true,
  metafile: true,
  plugins: [lean, policies, sheets],
  logLevel: "warning",
});

// terser finds 3 % more to leave out than esbuild does; xterm.js comes minified. A name's hash is of what went in.
const scripts = Object.keys(result.metafile.outputs).filter(path => /\.js$/.test(path) && !/\/terminal-/.test(path));
for (const path of scripts.map(path => resolve(here, path))) {
  const options = { module: true, ecma: 2020, compress: { passes: 2 } };
  await writeFile(path, (await minify(await readFile(path, "utf8"), options)).code);
}

// What an entry file became, and what it needs at once, as absolute paths of the site.
const outputs = Object.entries(result.metafile.outputs);
const site = path => "/" + relative(out, resolve(here, path)).replaceAll("\\", "/");
function output(entry) {
  const [path, facts] = outputs.find(([, o]) => o.entryPoint === entry);
  return { path: site(path), needs: facts.imports.filter(i => i.kind === "import-statement").map(i => site(i.path)) };
}
const main = output("main.tsx"),
  pages = output("routes.ts");
const font = site(outputs.find(([path]) => path.endsWith(".woff2"))[0]);
const page = (await readFile(join(here, "index.html"), "utf8"))
  .replace("{{theme}}", output("theme.ts").path)
  .replace("{{style}}", output("style.css").path)
  .replace("{{font}}", font)
  .replace("{{main}}", main.path)
  .replace("{{preload}}", main.needs.map(path => `<link rel="modulepreload" href="${path}">`).join("\n"))
  .replace(
    "{{pages}}",
    [pages.path, ...pages.needs.filter(path => !main.needs.includes(path))]
      .map(path => `<link rel="modulepreload" href="${path}" fetchpriority="low">`)
      .join("\n"),
  );
await writeFile(join(out, "index.html"), page);
await copyFile(join(here, "favicon.svg"), join(out, "favicon.svg"));

// The addresses of pages, which the server answers with index.html; "*" takes one segment, words in brackets are a path each.
const eachWord = path =>
  path
    .match(/\((.*)\)/)?.[1]
    .split("|")
    .map(word => path.replace(/:\w+\(.*\)/, word)) ?? [path];
const routes = [...(await readFile(join(here, "routes.ts"), "utf8")).matchAll(/^ {2}"(\/[^"]*)":/gm)]
  .flatMap(([, path]) => eachWord(path))
  .map(path => path.replace(/:\w+/g, "*"));
await writeFile(join(out, "..", `${basename(out)}-pages.json`), JSON.stringify([...routes, "/sign-in"]));

// Swagger UI as its package ships it; the page around it is openapi/docs.
const swagger = join(modules, "swagger-ui-dist");
for (const name of ["swagger-ui.css", "swagger-ui-bundle.js"])
  await copyFile(join(swagger, name), join(out, "docs", name));

// Licences of what is shipped, in one file.
const shipped = Object.keys(JSON.parse(await readFile(join(here, "package.json"), "utf8")).dependencies);
const licences = await Promise.all(
  [...shipped, "@preact/signals-core"].map(async name => {
    const files = await readdir(join(modules, name));
    const file = files.find(f => /^licen[cs]e/i.test(f));
    const { version, license } = JSON.parse(await readFile(join(modules, name, "package.json"), "utf8"));
    const text = file ? await readFile(join(modules, name, file), "utf8") : `Licence: ${license}\n`;
    return `${name} ${version} (${license})\n\n${text.trim()}\n`;
  }),
);
await writeFile(join(out, "licences.txt"), licences.join("\n----------------------------------------\n\n"));

// As they travel, packed by zopfli: 3 % smaller than by gzip. The server embeds what lies beside a file as FILE.gz.
const assets = join(out, "assets");
const names = (await readdir(assets)).filter(name => /\.(js|css)$/.test(name)).sort();
execFileSync("zopfli", ["--i5", ...names], { cwd: assets });
const sizes = {};
for (const name of names) sizes[`assets/${name}`] = (await stat(join(assets, `${name}.gz`))).size;

// What the budget test checks: what stands between the first byte and the first paint, the pages of every day, all but the
// terminal, and the terminal.
const first = [output("theme.ts").path, output("style.css").path, main.path, ...main.needs].map(path => path.slice(1));
const own = Object.entries(sizes);
const sum = list => list.reduce((total, [, size]) => total + size, 0);
const sizeOf = entry => sizes[output(entry).path.slice(1)];
const terminal = sizeOf("pages/terminal.tsx"),
  all = sum(own) - terminal;
const report = {
  all,
  often: all - sizeOf("pages/seldom.ts") - sizeOf("parts/chart.tsx"),
  first: sum(own.filter(([path]) => first.includes(path))),
  terminal,
  font: (await stat(join(out, font))).size,
  files: sizes,
};
await writeFile(join(out, "..", `${basename(out)}-sizes.json`), JSON.stringify(report, null, 1));
const kb = bytes => `${(bytes / 1024).toFixed(1)} KB`;
console.log(
  `web: ${kb(report.all)} gzip, ${kb(report.often)} of every day, ${kb(report.first)} before first paint; the terminal ${kb(report.terminal)}`,
);
