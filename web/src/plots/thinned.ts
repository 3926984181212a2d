/**
 * Keep the least and the greatest value of every bin of samples, in the order they occur, so that
 * no peak is lost; the server thins long recordings in the same way.
 *
 * @param most About how many samples are kept.
 */
export function thinned(time: ArrayLike<number>, values: ArrayLike<number>, most: number): [time: number[], values: (number | null)[]] {
  const step = Math.max(1, Math.ceil(time.length / most));
  const kept: [number[], (number | null)[]] = [[], []];
  const keep = (at: number, value: number) => {
    kept[0].push(time[at]!);
    kept[1].push(Number.isFinite(value) ? value : null);
  };
  if (step === 1) {
    for (let i = 0; i < time.length; i++) keep(i, values[i]!);
    return kept;
  }
  for (let first = 0; first < time.length; first += 2 * step) {
    const end = Math.min(first + 2 * step, time.length);
    let [low, high] = [-1, -1];
    for (let i = first; i < end; i++) {
      if (!Number.isFinite(values[i]!)) continue;
      if (low < 0 || values[i]! < values[low]!) low = i;
      if (high < 0 || values[i]! > values[high]!) high = i;
    }
    // Lines share these times, whatever their peaks.
    const [earlier, later] = low < 0 ? [first, first] : [Math.min(low, high), Math.max(low, high)];
    keep(first, values[earlier]!);
    if (first + step < end) keep(first + step, values[later]!);
    else if (earlier !== later) keep(end - 1, values[later]!);
  }
  return kept;
}
