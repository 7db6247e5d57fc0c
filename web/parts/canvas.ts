// What every picture on a canvas is drawn with: the theme's colours, textures of projects, and pixels of the screen.

const TOKENS = "surface sunken line line-strong ink ink-2 ink-3 on-ink bad bad-soft warn ok ok-soft accent focus".split(
  " ",
);
for (let i = 1; i <= 8; i++) TOKENS.push(`p${i}`, `on${i}`);

/** The colours of the theme, by the name of their token. */
export function readTokens(): Record<string, string> {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(TOKENS.map(t => [t, style.getPropertyValue(`--${t}`).trim()]));
}

/** Tiles of 4 pixels in a tone: "dots" and "idle" have a dot in each, "grid" a line on two sides. */
export function tiles(pen: CanvasRenderingContext2D, scale: number) {
  const made = new Map<string, CanvasPattern>();
  return (kind: string, tone: string) => {
    const key = kind + tone,
      known = made.get(key);
    if (known) return known;
    const tile = document.createElement("canvas");
    tile.width = tile.height = 4 * scale;
    const dot = tile.getContext("2d")!;
    dot.scale(scale, scale);
    dot.fillStyle = tone;
    dot.globalAlpha = kind === "idle" ? 1 : 0.45;
    if (kind === "grid") {
      dot.fillRect(0, 0, 4, 0.75);
      dot.fillRect(0, 0, 0.75, 4);
    } else {
      dot.arc(2, 2, 0.9, 0, 7);
      dot.fill();
    }
    const pattern = pen.createPattern(tile, "repeat")!;
    pattern.setTransform(new DOMMatrix().scale(1 / scale));
    made.set(key, pattern);
    return pattern;
  };
}

/** An empty canvas of so many CSS pixels, as sharp as the screen is. */
export function openCanvas(canvas: HTMLCanvasElement, width: number, height: number) {
  const scale = Math.ceil(devicePixelRatio || 1);
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const pen = canvas.getContext("2d")!;
  pen.scale(scale, scale);
  return { pen, tone: readTokens(), texture: tiles(pen, scale) };
}
