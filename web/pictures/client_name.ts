// What a client calls itself, in two words. Browsers name their ancestors too, so the order decides.
const BROWSERS: [mark: RegExp, name: string][] = [
  [/Edg(?:e|A|iOS)?\//, "Edge"],
  [/OPR\//, "Opera"],
  [/Firefox\/|FxiOS\//, "Firefox"],
  [/Chrome\/|CriOS\/|Chromium\//, "Chrome"],
  [/Safari\//, "Safari"],
];
const SYSTEMS: [mark: RegExp, name: string][] = [
  [/Android/, "Android"],
  [/iPhone|iPad/, "iOS"],
  [/Windows/, "Windows"],
  [/Mac OS X|Macintosh/, "macOS"],
  [/Linux/, "Linux"],
];

const nameIn = (list: [RegExp, string][], text: string) => list.find(([mark]) => mark.test(text))?.[1];

/** "Firefox on Linux" for a browser, else the first 60 characters. */
export function clientName(agent: string): string {
  const browser = /^Mozilla\//.test(agent) && nameIn(BROWSERS, agent);
  if (!browser) return agent.length > 60 ? agent.slice(0, 59) + "…" : agent;
  const system = nameIn(SYSTEMS, agent);
  return system ? `${browser} on ${system}` : browser;
}
