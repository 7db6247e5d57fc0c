// htm bound to Preact: html`<div class=${c}>…</div>` makes what h() makes, without a compiler.
import htm from "htm";
import { h } from "preact";

export const html = htm.bind(h);
