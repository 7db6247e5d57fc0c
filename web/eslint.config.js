import js from "@eslint/js";
import ts from "typescript-eslint";

const names = list => Object.fromEntries(list.split(" ").map(name => [name, "readonly"]));
const browser = names(
  "window document location navigator localStorage sessionStorage performance console fetch Event MouseEvent " +
    "KeyboardEvent PerformanceObserver requestAnimationFrame setTimeout clearTimeout setInterval getComputedStyle " +
    "getSelection scrollTo innerWidth innerHeight Image EventSource",
);
const node = names("process console URL URLSearchParams Buffer setTimeout clearTimeout fetch globalThis");

const markup = "Markup is never set from text.";

export default ts.config(
  { ignores: ["node_modules/**", "generated/**"] },
  js.configs.recommended,
  {
    languageOptions: { ecmaVersion: 2023, sourceType: "module", globals: { ...browser, ...node } },
    rules: {
      "no-restricted-properties": [
        "error",
        { property: "innerHTML", message: markup },
        { property: "outerHTML", message: markup },
      ],
      "no-restricted-syntax": [
        "error",
        { selector: "JSXAttribute[name.name='dangerouslySetInnerHTML']", message: "Only icons.tsx sets markup." },
        { selector: "JSXAttribute[name.name='style']", message: "The policy allows no styles in markup." },
      ],
      "max-lines": ["error", 500],
      eqeqeq: "error",
      "no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
      "prefer-const": "error",
      "no-var": "error",
      "no-console": "off",
    },
  },
  {
    files: ["**/*.ts", "**/*.tsx"],
    extends: [ts.configs.recommended],
    rules: {
      "max-lines-per-function": ["error", { max: 60, skipComments: true }],
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
      "@typescript-eslint/no-unused-expressions": ["error", { allowShortCircuit: true, allowTernary: true }],
    },
  },
  { files: ["icons.tsx"], rules: { "no-restricted-syntax": "off" } },
  { files: ["**/*.mjs"], rules: { "no-restricted-properties": "off" } }, // tests read what stands there
);
