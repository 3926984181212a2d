/** Where the bytes of a file come from: the server in parts, or the page itself. */
export interface Source {
  /** Read some bytes; fewer at the end of the file. */
  read(offset: number, length: number): Promise<Uint8Array>;
}

export class ServerSource implements Source {
  constructor(private readonly address: string) {}

  async read(offset: number, length: number): Promise<Uint8Array> {
    if (length === 0) return new Uint8Array();
    const range = { range: `bytes=${offset}-${offset + length - 1}` };
    const answer = await fetch(this.address, { headers: range });
    if (!answer.ok) throw new Error(await complaint(answer));
    return new Uint8Array(await answer.arrayBuffer());
  }
}

export class MemorySource implements Source {
  constructor(private readonly data: Uint8Array) {}

  async read(offset: number, length: number): Promise<Uint8Array> {
    return this.data.subarray(offset, offset + length);
  }
}

/** Give what the server says is wrong. */
export async function complaint(answer: Response): Promise<string> {
  try {
    return String(((await answer.json()) as { error: string }).error);
  } catch {
    return `the server returned status ${answer.status}`;
  }
}
