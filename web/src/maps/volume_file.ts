import { unpack } from "../replay/streams";
import type { VolumeData } from "./volume";

/** Where a volume is cut open, 0 to 1: from and to along x, y and z, and grades from where on. */
export type Cuts = [number, number, number, number, number, number, number];

/** Around its robot's base lies a capability map, around the tool an inverse one. */
export type MapKind = "capability" | "irm3" | "irm4";

/** A field of a map with all that is said of it. */
export interface VolumeFile extends VolumeData {
  title: string;
  /** What the greatest grade stands for. */
  greatest: number;
  unit: string;
  /** What the values are, in words. */
  meaning: string;
  kind: MapKind;
  /** The link around which a capability map lies. */
  base: string;
  cuts: Cuts;
}

/** Read a field of a map as the server packs it. */
export async function readVolume(bytes: Uint8Array<ArrayBuffer>): Promise<VolumeFile> {
  const start = 4 + new DataView(bytes.buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(bytes.subarray(4, start))) as Omit<VolumeFile, "grades">;
  return { ...head, grades: await unpack(bytes.subarray(start)) };
}
