import type { App } from "./app";

/** What tests, and scripts of the page's user, may do with the page. */
export interface Remote {
  /** Done when the first picture is drawn and everything it needs has come. */
  ready: Promise<void>;
  /** Show a time [s]; done when it is drawn. */
  setTime(time: number): Promise<void>;
  /** The picture as numbers: the time, and the pose of every solid of every replay. */
  frame(): { time: number; poses: Record<string, Record<string, number[]>> };
  /** Add a waypoint of a walk [m]; the walking mode sets it. */
  addWaypoint: ((x: number, y: number) => void) | null;
  state(): Record<string, unknown>;
}

declare global {
  interface Window {
    kinetarium: Remote;
  }
}

export function remote(app: App, ready: Promise<void>): Remote {
  return {
    ready,
    setTime: (time) => app.showTime(time),
    frame: () => {
      const actors = app.mode?.cast?.actors ?? [];
      const poses = actors.map((actor) => [actor.file.head.title, actor.poses()] as const);
      return { time: app.clock.time, poses: Object.fromEntries(poses) };
    },
    addWaypoint: null,
    state: () => ({
      mode: app.mode?.id ?? "",
      time: app.clock.time,
      duration: app.clock.duration,
      playing: app.clock.playing,
      speed: app.clock.speed,
      frames: app.stage.frames,
      projection: app.stage.viewpoint.projection,
      eye: app.stage.viewpoint.matrix().elements,
      camera: app.stage.viewpoint.written(),
      replays: app.mode?.cast?.actors.map((actor) => actor.file.head.title) ?? [],
      ...app.mode?.state?.(),
    }),
  };
}
