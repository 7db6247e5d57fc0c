// A client's own words, made short for the list of sessions.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "../load.mjs";

const { clientName } = await load("pictures/client_name");
const MOZILLA = "Mozilla/5.0 ";

test("browsers are called by name and system, whoever they say they are like", () => {
  const chrome = MOZILLA + "(Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Safari/537.36";
  assert.equal(clientName(chrome), "Chrome on Windows");
  assert.equal(clientName(chrome + " Edg/126.0"), "Edge on Windows");
  assert.equal(clientName(MOZILLA + "(X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"), "Firefox on Linux");
  assert.equal(clientName(MOZILLA + "(iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1 (KHTML, like Gecko) Version/17.5 Safari/604.1"), "Safari on iOS");
  assert.equal(clientName(MOZILLA + "Firefox/1"), "Firefox");
});

test("others stand as they are, cut short", () => {
  assert.equal(clientName("prorata/0.1"), "prorata/0.1");
  assert.equal(clientName(""), "");
  assert.equal(clientName(MOZILLA + "(nothing known)"), MOZILLA + "(nothing known)");
  assert.equal(clientName("x".repeat(200)), "x".repeat(59) + "…");
});
