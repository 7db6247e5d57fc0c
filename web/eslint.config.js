import js from "@eslint/js";

const names = list => Object.fromEntries(list.split(" ").map(name => [name, "readonly"]));
const browser = names("window document location history localStorage sessionStorage navigator console fetch URL URLSearchParams AbortController AbortSignal EventSource Image BroadcastChannel ResizeObserver IntersectionObserver MutationObserver PerformanceObserver requestAnimationFrame cancelAnimationFrame requestIdleCallback setTimeout clearTimeout setInterval clearInterval addEventListener removeEventListener matchMedia performance getComputedStyle getSelection devicePixelRatio innerWidth innerHeight scrollTo FormData Blob CSS TextDecoder TextEncoder");
const node = names("process console URL URLSearchParams Buffer setTimeout clearTimeout fetch");

export default [
  { ignores: ["node_modules/**"] },
  js.configs.recommended,
  {
    languageOptions: { ecmaVersion: 2023, sourceType: "module", globals: { ...browser, ...node } },
    rules: {
      "no-restricted-properties": ["error", { property: "innerHTML", message: "Markup is never set from text." }, { property: "outerHTML", message: "Markup is never set from text." }],
      "no-restricted-syntax": ["error", { selector: "TemplateElement[value.raw=/dangerouslySetInnerHTML/]", message: "Only icons.js sets markup." }],
      "max-lines": ["error", 500],
      eqeqeq: "error",
      "no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
      "prefer-const": "error",
      "no-var": "error",
      semi: "error",
      quotes: ["error", "double", { avoidEscape: true, allowTemplateLiterals: true }],
      "no-console": "off",
    },
  },
  { files: ["icons.js"], rules: { "no-restricted-syntax": "off" } },
];
