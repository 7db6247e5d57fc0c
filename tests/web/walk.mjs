// What a person does with workloads in the browser, by mouse: for walk-throughs on a real server.
const VERBS = { training: "Create training", distributed: "Create distributed training", workspace: "Create workspace" };
export const IMAGE = "runai.jfrog.io/demo/quickstart";

// From any page with the frame: New workload, the form, Create; ends in the list with the details open.
export async function submitByMouse(page, { name, project, kind = "training", size, gpus, workers, image = IMAGE }) {
  await page.getByRole("link", { name: "New workload" }).first().click();
  await page.waitForSelector("#f-name");
  if (kind !== "training") {
    await page.getByRole("group", { name: "Kind" }).getByRole("button", { name: kind === "workspace" ? "Workspace" : "Distributed" }).click();
    await page.getByRole("button", { name: VERBS[kind] }).waitFor();
  }
  await page.selectOption("#f-project", { label: project });
  await page.fill("#f-name", name);
  await page.fill("#f-image", image);
  if (size) await page.getByRole("group", { name: "Size" }).getByRole("button", { name: size, exact: true }).click();
  if (gpus !== undefined) await page.fill("#f-gpus", String(gpus));
  if (workers !== undefined) await page.fill("#f-workers", String(workers));
  await page.getByRole("button", { name: VERBS[kind] }).click();
  await page.waitForURL(/\/workloads\?open=/);
  await page.waitForSelector(`#pane-title:has-text("${name}")`);
}

export const rowOf = (page, name) => page.locator("tbody tr").filter({ has: page.locator("td.first a > span", { hasText: new RegExp(`^${name}$`) }) });

// Waits until the table says so, by live changes alone.
export const status = (page, name, phase) => rowOf(page, name).filter({ hasText: phase }).waitFor();
