// What a session in a pod streams: frames of a byte that says what it is ("1" output, "2" errors, "x" the end, " " nothing), four
// of the length, the highest first, and the bytes.

const HEAD = 5;

export interface Frame {
  kind: string;
  data: Uint8Array;
}

/** The whole frames of what came, and the rest that waits for more. */
export function cut(bytes: Uint8Array): { frames: Frame[]; rest: Uint8Array } {
  const frames: Frame[] = [];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  while (bytes.length - at >= HEAD) {
    const end = at + HEAD + view.getUint32(at + 1);
    if (end > bytes.length) break;
    frames.push({ kind: String.fromCharCode(bytes[at]), data: bytes.subarray(at + HEAD, end) });
    at = end;
  }
  return { frames, rest: bytes.subarray(at) };
}

export function join(a: Uint8Array, b: Uint8Array) {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

/** Of an end, "3 the reason" -> [3, "the reason"]. */
export function ending(data: Uint8Array): [status: number, words: string] {
  const [, status, words] = /^(\d*) *(.*)$/s.exec(new TextDecoder().decode(data)) ?? [];
  return [Number(status), words ?? ""];
}
