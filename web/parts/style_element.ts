// What xterm.js gets for a style element (build.mjs puts it in): its text becomes a constructed style sheet, for the page's
// policy allows no style of a script's making in the document.

export function styleElement(document: Document) {
  const sheet = new CSSStyleSheet();
  const element = document.createElement("span");
  element.hidden = true;
  document.adoptedStyleSheets.push(sheet);
  Object.defineProperty(element, "textContent", { set: (text: string) => sheet.replaceSync(text) });
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter(s => s !== sheet);
    Element.prototype.remove.call(element);
  };
  return element;
}
