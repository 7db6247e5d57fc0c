// The pages know the API by its own description: asking for a path, a field or a parameter that isn't there does not compile.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import { ROOT } from "../browser.mjs";

const web = `${ROOT}/web`,
  asks = `${ROOT}/tests/web/types/asks.ts`;
const ts = createRequire(`${web}/package.json`)("typescript");

test("what the API doesn't have is an error, what it has is none", () => {
  if (!existsSync(`${web}/generated/api.d.ts`)) execFileSync("npm", ["--prefix", web, "run", "--silent", "types"]);
  const { options } = ts.parseJsonConfigFileContent(ts.readConfigFile(`${web}/tsconfig.json`, ts.sys.readFile).config, ts.sys, web);
  const program = ts.createProgram([asks], options);
  const found = ts.getPreEmitDiagnostics(program).map(({ file, start }) => `${file.fileName}:${file.getLineAndCharacterOfPosition(start).line}`);
  const lines = readFileSync(asks, "utf8").split("\n"),
    first = lines.findIndex(line => line.startsWith("export const wrong")) + 1;
  const wrong = lines.flatMap((line, i) => (i >= first && line.startsWith("  ") ? [`${asks}:${i}`] : []));
  assert.equal(wrong.length, 6);
  assert.deepEqual([...new Set(found)], wrong);
});
