// First script in the head: sets the theme before anything is painted. Follows the system until the person chooses.
const dark = matchMedia("(prefers-color-scheme: dark)");
function kept() {
  try {
    return localStorage.getItem("theme");
  } catch {
    return null; // private mode
  }
}
function apply() {
  document.documentElement.dataset.theme = kept() ?? (dark.matches ? "dark" : "light");
}
apply();
dark.addEventListener("change", apply);
