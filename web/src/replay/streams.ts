/** Numbers over time as the server packs them: gzip, bytes of equal weight together. */

export async function unpack(data: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([data as BlobPart]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Put the bytes of each number together again. */
function joined(planes: Uint8Array, size: number): ArrayBuffer {
  const count = planes.length / size;
  const bytes = new Uint8Array(planes.length);
  for (let plane = 0; plane < size; plane++) {
    const start = plane * count;
    for (let i = 0; i < count; i++) bytes[i * size + plane] = planes[start + i]!;
  }
  return bytes.buffer;
}

export async function float64s(data: Uint8Array): Promise<Float64Array> {
  return new Float64Array(joined(await unpack(data), 8));
}

export async function float32s(data: Uint8Array): Promise<Float32Array> {
  return new Float32Array(joined(await unpack(data), 4));
}

export type Encoding = "exact" | "compact";

const STEPS = 65534;

/**
 * Unpack streams, one after the other.
 *
 * @param ranges Least and greatest value of each stream, which compact ones are steps between.
 */
export async function streams(
  data: Uint8Array,
  encoding: Encoding,
  ranges: readonly [number, number][],
): Promise<Float32Array> {
  if (encoding === "exact") return float32s(data);
  const differences = new Uint16Array(joined(await unpack(data), 2));
  const samples = differences.length / Math.max(1, ranges.length);
  const values = new Float32Array(differences.length);
  ranges.forEach(([low, high], stream) => {
    let code = 0;
    for (let i = stream * samples; i < (stream + 1) * samples; i++) {
      code = (code + differences[i]!) & 0xffff;
      values[i] = code > STEPS ? NaN : low + ((high - low) * code) / STEPS;
    }
  });
  return values;
}
