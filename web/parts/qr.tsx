// A text as a QR code, dark on light in both themes: cameras read no other.
import { encode } from "uqr";

/** One path of unit squares; the label says what it holds. */
export function Qr({ text, label }: { text: string; label: string }) {
  const { data, size } = encode(text, { border: 4 });
  const squares = data.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : "")));
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label} shape-rendering="crispEdges">
      <path d={squares.join("")} />
    </svg>
  );
}
