import type { App } from "../app";
import { type Block, webm } from "./webm";

/** What is filmed. */
export interface Shot {
  /** Size of the pictures [px], even numbers. */
  width: number;
  height: number;
  /** The time that is shown, from and to [s]. */
  from: number;
  to: number;
  /** Pictures in a second. */
  rate: number;
  /** Seconds that are shown in one of the film. */
  speed: number;
}

/** How the codecs are called in WebCodecs and in the file, the best first. */
const CODECS: [codec: string, name: string][] = [["vp09.00.31.08", "V_VP9"], ["vp8", "V_VP8"]];
/** Bits for each pixel of a picture. */
const BITS = 0.12;
/** Pictures from one that needs none before it to the next. */
const GROUP = 60;
/** How long the page may not answer [ms]. */
const ANSWER = 100;
/** Pictures that may wait to be compressed. */
const QUEUE = 4;

/**
 * Film a part of time, picture by picture: however slow the machine is, none is left out, and the
 * same film comes out again.
 *
 * @param progress Told what part is done, 0 to 1.
 * @param signal Stops it.
 */
export async function film(app: App, shot: Shot, progress: (done: number) => void, signal: AbortSignal): Promise<Blob> {
  const [codec, name] = await supported(shot);
  const blocks: Block[] = [];
  let failure: unknown = null;
  const encoder = new VideoEncoder({
    output: (chunk) => {
      const data = new Uint8Array(chunk.byteLength);
      chunk.copyTo(data);
      blocks.push({ time: Math.round(chunk.timestamp / 1000), key: chunk.type === "key", data });
    },
    error: (error) => (failure = error),
  });
  encoder.configure(configuration(codec, shot));
  const count = pictures(shot);
  let answered = performance.now();
  try {
    await app.stage.sized(shot.width, shot.height, async (canvas) => {
      for (let i = 0; i < count; i++) {
        signal.throwIfAborted();
        if (failure) throw failure;
        await app.showTime(Math.min(shot.from + (i * shot.speed) / shot.rate, shot.to));
        const frame = new VideoFrame(canvas, { timestamp: Math.round((i * 1e6) / shot.rate) });
        encoder.encode(frame, { keyFrame: i % GROUP === 0 });
        frame.close();
        progress((i + 1) / count);
        // The page answers now and then, and the encoder keeps up.
        while (!failure && (encoder.encodeQueueSize > QUEUE || performance.now() > answered + ANSWER)) {
          await new Promise((done) => setTimeout(done));
          answered = performance.now();
        }
      }
      await encoder.flush();
    });
  } finally {
    if (encoder.state !== "closed") encoder.close();
  }
  if (failure) throw failure;
  return webm(blocks, name, shot.width, shot.height, (1000 * count) / shot.rate);
}

/** How many pictures a film has. */
export function pictures({ from, to, rate, speed }: Shot): number {
  return Math.max(1, Math.round(((to - from) / speed) * rate));
}

async function supported(shot: Shot): Promise<[codec: string, name: string]> {
  if (typeof VideoEncoder !== "undefined")
    for (const entry of CODECS) {
      const { supported } = await VideoEncoder.isConfigSupported(configuration(entry[0], shot));
      if (supported) return entry;
    }
  throw new Error("this browser cannot write WebM videos of this size; a current Chrome, Edge or Firefox can");
}

function configuration(codec: string, { width, height, rate }: Shot): VideoEncoderConfig {
  return { codec, width, height, framerate: rate, bitrate: Math.round(BITS * width * height * rate) };
}
