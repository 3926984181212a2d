/** WebM files: Matroska (RFC 9559) in EBML (RFC 8794), with one track of video. */

/** A compressed picture. */
export interface Block {
  /** When it is shown [ms]. */
  time: number;
  /** Whether it needs none before it. */
  key: boolean;
  data: Uint8Array;
}

type Content = number[] | Uint8Array | Content[];

/** A cluster has at most this length [ms]: times within it are signed 16-bit numbers. */
const LONGEST = 10_000;

const ID = {
  header: [0x1a, 0x45, 0xdf, 0xa3], version: [0x42, 0x86], readVersion: [0x42, 0xf7], idLength: [0x42, 0xf2],
  sizeLength: [0x42, 0xf3], docType: [0x42, 0x82], docVersion: [0x42, 0x87], docReadVersion: [0x42, 0x85],
  segment: [0x18, 0x53, 0x80, 0x67], info: [0x15, 0x49, 0xa9, 0x66], scale: [0x2a, 0xd7, 0xb1],
  duration: [0x44, 0x89], muxer: [0x4d, 0x80], writer: [0x57, 0x41], tracks: [0x16, 0x54, 0xae, 0x6b],
  track: [0xae], number: [0xd7], uid: [0x73, 0xc5], type: [0x83], codec: [0x86], video: [0xe0],
  width: [0xb0], height: [0xba], cluster: [0x1f, 0x43, 0xb6, 0x75], time: [0xe7], block: [0xa3],
  cues: [0x1c, 0x53, 0xbb, 0x6b], cue: [0xbb], cueTime: [0xb3], cuePositions: [0xb7], cueTrack: [0xf7], cueCluster: [0xf1],
} as const;

/**
 * Write a file.
 *
 * @param codec As Matroska calls it, such as "V_VP8".
 * @param duration How long it is [ms], with the last picture.
 */
export function webm(blocks: Block[], codec: string, width: number, height: number, duration: number): Blob {
  const header = element(ID.header, [
    number(ID.version, 1), number(ID.readVersion, 1), number(ID.idLength, 4), number(ID.sizeLength, 8),
    text(ID.docType, "webm"), number(ID.docVersion, 4), number(ID.docReadVersion, 2),
  ]);
  const info = element(ID.info, [
    number(ID.scale, 1_000_000), // times are milliseconds
    float(ID.duration, duration), text(ID.muxer, "Kinetarium"), text(ID.writer, "Kinetarium"),
  ]);
  const video = element(ID.video, [number(ID.width, width), number(ID.height, height)]);
  const track = element(ID.track, [number(ID.number, 1), number(ID.uid, 1), number(ID.type, 1), text(ID.codec, codec), video]);
  const tracks = element(ID.tracks, [track]);
  const clusters = grouped(blocks).map(cluster);
  // Where each cluster starts within the segment, for players to jump to.
  let at = info.length + tracks.length;
  const cues = element(ID.cues, clusters.map(({ start, bytes }) => {
    const cue = element(ID.cue, [
      number(ID.cueTime, start), element(ID.cuePositions, [number(ID.cueTrack, 1), number(ID.cueCluster, at)]),
    ]);
    at += bytes.length;
    return cue;
  }));
  const segment = element(ID.segment, [info, tracks, ...clusters.map(({ bytes }) => bytes), cues]);
  return new Blob([header, segment], { type: "video/webm" });
}

/** Cut pictures into groups that start with one that needs none before it. */
function grouped(blocks: Block[]): Block[][] {
  const groups: Block[][] = [];
  for (const block of blocks) {
    const group = groups.at(-1);
    if (group && !block.key && block.time - group[0]!.time < LONGEST) group.push(block);
    else groups.push([block]);
  }
  return groups;
}

function cluster(blocks: Block[]): { start: number; bytes: Uint8Array<ArrayBuffer> } {
  const start = blocks[0]!.time;
  const parts = blocks.map(({ time, key, data }) => {
    const after = time - start;
    return element(ID.block, [[0x81, after >> 8, after & 0xff, key ? 0x80 : 0], data]);
  });
  return { start, bytes: element(ID.cluster, [number(ID.time, start), ...parts]) };
}

function element(id: readonly number[], content: Content): Uint8Array<ArrayBuffer> {
  const parts = content.length && typeof content[0] !== "number" ? (content as Content[]) : [content];
  const all = parts.map((part) => (part instanceof Uint8Array ? part : Uint8Array.from(part as number[])));
  const length = all.reduce((sum, part) => sum + part.length, 0);
  const bytes = new Uint8Array(id.length + 8 + length);
  bytes.set(id);
  // The length in eight bytes, the first of which says so.
  new DataView(bytes.buffer).setBigUint64(id.length, BigInt(length) | (1n << 56n));
  let at = id.length + 8;
  for (const part of all) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

function number(id: readonly number[], value: number): Uint8Array {
  const bytes: number[] = [];
  for (let rest = value; rest > 0 || !bytes.length; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return element(id, bytes);
}

function float(id: readonly number[], value: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setFloat64(0, value);
  return element(id, bytes);
}

function text(id: readonly number[], value: string): Uint8Array {
  return element(id, new TextEncoder().encode(value));
}
