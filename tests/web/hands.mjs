// Two ways to use a page, for walk-throughs: by mouse, and by keyboard alone. Both press, type and choose in what a locator
// names, open a page of the sidebar and a tab of the details; the keyboard gets there by Tab, arrows and the page's own keys.
import assert from "node:assert/strict";
import { ADMIN, PASSWORD, send } from "./real_server.mjs";

const MOST_TABS = 250;
const GO = { Overview: "o", Workloads: "w", Projects: "p", Departments: "d", Quota: "q", "Idle GPUs": "i", Nodes: "n", Timeline: "t", Events: "e" }; // the others are found by their names
const entryOf = (page, name) => page.locator(".menu [role=menuitem]").filter({ hasText: new RegExp(`^${name}$`) }).first();

export function mouse(page) {
  return {
    page,
    menu: name => page.locator("a.nav").filter({ hasText: name }).first().click(),
    press: at => at.click(),
    type: (at, text) => at.fill(text),
    choose: (at, label) => at.selectOption({ label }),
    check: at => at.check(),
    // A field that takes several names.
    async add(at, name) {
      await at.fill(name);
      await at.press("Enter");
    },
    // An entry of the menu below a button.
    async pick(at, name) {
      await at.click();
      await entryOf(page, name).click();
    },
    // Closes the panel or the dialog that is open.
    leave: () => page.mouse.click(3, 3), // beside it
    tab: name => page.getByRole("tab", { name, exact: true }).click(),
    newWorkload: () => page.getByRole("link", { name: "New workload" }).first().click(),
    // The tip of a thing that can't be used.
    async tipOf(at) {
      await at.hover();
      return page.locator(".tip:visible").innerText();
    },
  };
}

// How many Tabs (below 0: backwards) lie between the focus and an element, in the order of the page or of the open dialog.
function stepsTo(to) {
  const place = to.closest("dialog[open]") ?? document;
  const stops = [...place.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex]")].filter(e => e === to || (e.tabIndex >= 0 && !e.disabled && e.checkVisibility({ visibilityProperty: true })));
  const from = stops.indexOf(document.activeElement);
  return from < 0 ? 0 : stops.indexOf(to) - from;
}

// Why nobody sees that an element has the focus, or "": it is out of sight, or nothing marks it.
function unseen(e) {
  const { top, bottom, left, right, width, height } = e.getBoundingClientRect();
  if (!width || !height || bottom <= 0 || right <= 0 || top >= innerHeight || left >= innerWidth) return "out of sight";
  const isMarked = x => x && getComputedStyle(x).outlineStyle !== "none" && parseFloat(getComputedStyle(x).outlineWidth) > 0;
  return [e, e.parentElement, e.parentElement?.parentElement, ...e.querySelectorAll("*")].some(isMarked) ? "" : "nothing marks it";
}

export function keyboard(page) {
  const key = name => page.keyboard.press(name);
  // Where the focus is; it is never lost once it was somewhere: not by a closed dialog, not with what was deleted.
  let begun = false;
  page.on("load", () => (begun = false));
  async function kept() {
    if (begun) await page.waitForFunction(() => document.activeElement && document.activeElement !== document.body, undefined, { timeout: 60_000 }).catch(() => assert.fail(`the focus is lost on ${page.url()}`));
    begun = true;
  }
  // Moves the focus by Tab, forwards or back, until it is there: first as often as the page's order says, then one by one.
  // 4: the other one stands behind it.
  async function reach(at) {
    await at.waitFor();
    await kept();
    const steps = await at.evaluate(stepsTo);
    await Promise.all(Array.from({ length: Math.abs(steps) }, () => key(steps < 0 ? "Shift+Tab" : "Tab")));
    for (let i = 0; i < MOST_TABS; i++) {
      const step = await at.evaluate(to => {
        const from = document.activeElement;
        if (from === to) return "";
        return from !== document.body && to.compareDocumentPosition(from) & 4 ? "Shift+Tab" : "Tab";
      });
      if (!step) return assert.equal(await at.evaluate(unseen), "", `the focus shows on ${at}`);
      await key(step);
    }
    assert.fail(`Tab does not reach ${at}`);
  }
  async function press(at) {
    await reach(at);
    await key("Enter");
  }
  // Letters of the page's own keys are text inside a field: Escape would close the details, so the focus goes to a link.
  const leaveField = async () => {
    if (await page.evaluate(() => document.activeElement.matches("input, textarea, select"))) await reach(page.locator("a.nav[aria-current]").first());
  };
  return {
    page,
    async menu(name) {
      await leaveField();
      if (!GO[name]) {
        await key("/");
        await page.keyboard.type(name);
        await page.locator("#found [aria-selected=true]").filter({ hasText: name }).waitFor();
        return key("Enter");
      }
      await key("g");
      await key(GO[name]);
    },
    press,
    async type(at, text) {
      await reach(at);
      await key("Control+A");
      await page.keyboard.type(text);
    },
    async choose(at, label) {
      await reach(at);
      await page.keyboard.type(label);
      assert.equal(await at.evaluate(select => select.selectedOptions[0]?.label), label);
    },
    async check(at) {
      await reach(at);
      if (!(await at.isChecked())) await key("Space");
      assert.ok(await at.isChecked());
    },
    async add(at, name) {
      await reach(at);
      await page.keyboard.type(name);
      await key("Enter");
    },
    async pick(at, name) {
      await press(at);
      const entry = entryOf(page, name);
      await entry.waitFor();
      for (let i = 0; i < 20 && !(await entry.evaluate(e => e === document.activeElement)); i++) await key("ArrowDown");
      assert.equal(await entry.evaluate(unseen), "");
      await key("Enter");
    },
    leave: () => key("Escape"),
    async tab(name) {
      await reach(page.locator("[role=tab][aria-selected=true]"));
      const wanted = page.locator(`[role=tab][aria-selected=true]:text-is("${name}")`);
      for (let i = 0; i < 12 && !(await wanted.count()); i++) await key("ArrowRight");
      await wanted.waitFor();
    },
    async newWorkload() {
      await leaveField();
      await key("n");
    },
    async tipOf(at) {
      await reach(at);
      return page.locator(".tip:visible").innerText();
    },
  };
}

/** Makes a user with a role in a scope, and signs him in on a page of his own. admin: a page of the administrator. */
export async function signInAs(page, url, admin, { email, role, scopeType, scopeId }) {
  const { tempPassword } = await send(admin, "POST", "/api/v1/users", { email });
  const roles = await admin.evaluate(async () => (await fetch("/api/v1/authorization/roles")).json());
  const rule = { subjectId: email, subjectType: "user", roleId: roles.find(r => r.name === role).id, scopeType, scopeId: String(scopeId) };
  await send(admin, "POST", "/api/v1/authorization/access-rules", rule);
  await page.goto(url + "/sign-in");
  await page.waitForSelector("#username");
  await send(page, "POST", "/api/v1/session", { username: email, password: tempPassword });
  await send(page, "POST", "/api/v1/me/password", { currentPassword: tempPassword, newPassword: PASSWORD });
  await send(page, "POST", "/api/v1/session", { username: email, password: PASSWORD });
  await page.goto(url + "/");
  await page.waitForSelector("nav.side");
}

/** The administrator signs in by the keyboard. */
export async function signInByKeys(page, url) {
  await page.goto(url + "/");
  await page.waitForSelector("#username:focus");
  await page.keyboard.type(ADMIN);
  await page.keyboard.press("Tab");
  await page.keyboard.type(PASSWORD);
  await page.keyboard.press("Enter");
  await page.waitForSelector("nav.side");
}
