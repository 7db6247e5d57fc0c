// style/terminal.css with that of xterm.js, as build.mjs bundles it.
declare module "terminal-style" {
  const css: string;
  export default css;
}
