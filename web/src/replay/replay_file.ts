import type { Source } from "../server/source";
import { Event } from "../shell/events";
import { after, type NamedTime } from "../time/clock";
import { type Encoding, float32s, float64s, streams, unpack } from "./streams";

interface Block {
  offset: number;
  length: number;
}

export interface MeshEntry {
  vertices: number;
  faces: number;
  low: [number, number, number];
  size: [number, number, number];
}

export interface SolidEntry {
  name: string;
  group: string;
  coats: { mesh: number; color: [number, number, number, number] }[];
  streams: number[];
}

export interface ChannelEntry extends Block {
  name: string;
  unit: string;
  columns: string[];
  ranges: [number, number][];
}

interface Head {
  title: string;
  encoding: Encoding;
  samples: number;
  step: number;
  time: Block;
  solids: SolidEntry[];
  arrows: { name: string; unit: string; streams: number[] }[];
  guides: ({ name: string; points: number } & Block)[];
  trails: string[];
  /** Named times [s]; files of earlier versions have none. */
  markers?: NamedTime[];
  /** Why there is nothing to see in 3-D; empty if there is. */
  note?: string;
  /** Key of a run beside it that has bodies, if it has none itself. */
  instead?: string;
  constants: (number | null)[];
  ranges: [number, number][];
  meshes: MeshEntry[];
  mesh_block: Block;
  parts: ({ first: number; samples: number } & Block)[];
  channels: ChannelEntry[];
}

const MAGIC = "KINREPL1";
const FIRST_READ = 65_536;

/** A replay file that is open: its head at once, its parts as they come. */
export class ReplayFile {
  readonly arrived = new Event();
  private readonly values: Float32Array;
  private readonly loaded: (Promise<void> | undefined)[];
  private readonly here: boolean[];

  private constructor(
    private readonly source: Source,
    private readonly start: number,
    readonly head: Head,
    readonly time: Float64Array,
  ) {
    this.values = new Float32Array(head.ranges.length * head.samples).fill(NaN);
    this.loaded = head.parts.map(() => undefined);
    this.here = head.parts.map(() => false);
  }

  static async open(source: Source): Promise<ReplayFile> {
    let bytes = await source.read(0, FIRST_READ);
    if (new TextDecoder().decode(bytes.subarray(0, 8)) !== MAGIC) throw new Error("not a replay file");
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    const start = 12 + view.getUint32(8, true);
    if (start > bytes.length) bytes = await source.read(0, start);
    const head = JSON.parse(new TextDecoder().decode(bytes.subarray(12, start))) as Head;
    const time = await float64s(await source.read(start + head.time.offset, head.time.length));
    return new ReplayFile(source, start, head, time);
  }

  get end(): number {
    return this.time[this.time.length - 1]!;
  }

  private block(block: Block): Promise<Uint8Array> {
    return this.source.read(this.start + block.offset, block.length);
  }

  /** Give all triangles, unpacked. */
  async meshes(): Promise<Uint8Array<ArrayBuffer>> {
    return unpack(await this.block(this.head.mesh_block));
  }

  async guide(index: number): Promise<Float32Array> {
    return float32s(await this.block(this.head.guides[index]!));
  }

  /** Give the values of a channel, its columns one after the other. */
  async channel(entry: ChannelEntry): Promise<Float32Array> {
    return streams(await this.block(entry), this.head.encoding, entry.ranges);
  }

  /** Load the part of a time, and then all others behind it and before it. */
  async loadAll(time: number): Promise<void> {
    const first = this.partAt(this.sampleAt(time));
    for (let i = 0; i < this.here.length; i++) await this.load((first + i) % this.here.length);
  }

  /** Load what is needed to show a time. */
  async loadAt(time: number): Promise<void> {
    const sample = this.sampleAt(time);
    const last = Math.min(sample + 1, this.time.length - 1);
    await Promise.all([this.load(this.partAt(sample)), this.load(this.partAt(last))]);
  }

  private load(part: number): Promise<void> {
    return (this.loaded[part] ??= this.fetchPart(part));
  }

  private async fetchPart(index: number): Promise<void> {
    const { head } = this;
    const part = head.parts[index]!;
    const values = await streams(await this.block(part), head.encoding, head.ranges);
    for (let s = 0; s < head.ranges.length; s++) {
      const row = values.subarray(s * part.samples, (s + 1) * part.samples);
      this.values.set(row, s * head.samples + part.first);
    }
    this.here[index] = true;
    this.arrived.emit();
  }

  private partAt(sample: number): number {
    const { parts } = this.head;
    let i = 0;
    while (i + 1 < parts.length && parts[i + 1]!.first <= sample) i++;
    return i;
  }

  /** The last sample that is not after a time. */
  sampleAt(time: number): number {
    return Math.max(0, after(this.time, time + 1e-9) - 1);
  }

  /** Where a time lies between its samples: the one before, and how far towards the next, 0..1. */
  place(time: number): [sample: number, part: number] {
    const sample = this.sampleAt(time);
    if (sample + 1 >= this.time.length) return [sample, 0];
    const span = this.time[sample + 1]! - this.time[sample]!;
    return [sample, Math.min(Math.max((time - this.time[sample]!) / span, 0), 1)];
  }

  /** Give the value of a stream at a place; NaN if it has not come yet. */
  value(stream: number, sample: number, part: number): number {
    if (stream < 0) return this.head.constants[-stream - 1] ?? NaN;
    const at = stream * this.head.samples + sample;
    const here = this.values[at]!;
    return part === 0 ? here : here + (this.values[at + 1]! - here) * part;
  }

  /** The least and the greatest value of a stream. */
  range(stream: number): [number, number] {
    if (stream >= 0) return this.head.ranges[stream]!;
    const value = this.head.constants[-stream - 1] ?? 0;
    return [value, value];
  }

  isHere(sample: number): boolean {
    return this.here[this.partAt(sample)]!;
  }
}
