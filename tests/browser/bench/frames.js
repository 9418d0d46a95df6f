// What is measured inside of a page: how far frames are apart, and when something can be used.

/** Begins to note the gaps between frames; the longest and how many were over 50 ms come from `stop`. */
export async function watchFrames(page) {
  await page.evaluate(() => {
    window.gaps = [];
    let last = performance.now();
    const frame = (now) => {
      window.gaps.push(now - last);
      last = now;
      window.watching = requestAnimationFrame(frame);
    };
    window.watching = requestAnimationFrame((now) => {
      last = now;
      window.watching = requestAnimationFrame(frame);
    });
  });
  return async () => {
    const gaps = await page.evaluate(() => {
      cancelAnimationFrame(window.watching);
      return window.gaps;
    });
    const sorted = gaps.toSorted((a, b) => a - b);
    return { longest: sorted.at(-1) ?? 0, p95: sorted[Math.floor(sorted.length * 0.95)] ?? 0, over: gaps.filter((gap) => gap > 50).length, frames: gaps.length };
  };
}

/** Lets frames go by, so that what was asked for is drawn. */
export function pass(page, frames = 2) {
  return page.evaluate(
    (count) =>
      new Promise((done) => {
        const frame = (left) => (left === 0 ? done() : requestAnimationFrame(() => frame(left - 1)));
        frame(count);
      }),
    frames,
  );
}

/** Drags over the middle of the page and back, and zooms out and in, as a person at a graph does. */
export async function panAndZoom(page) {
  const [x, y] = [500, 320];
  await page.mouse.move(x, y);
  await page.mouse.down();
  for (let step = 1; step <= 40; step += 1) await page.mouse.move(x - step * 8, y - step * 5);
  for (let step = 40; step >= 1; step -= 1) await page.mouse.move(x - step * 8, y - step * 5);
  await page.mouse.up();
  for (let step = 0; step < 20; step += 1) await page.mouse.wheel(0, 60);
  for (let step = 0; step < 20; step += 1) await page.mouse.wheel(0, -60);
}

/** Scrolls up through a long list with the wheel. */
export async function scroll(page, at) {
  await page.mouse.move(...at);
  for (let step = 0; step < 60; step += 1) await page.mouse.wheel(0, step % 10 === 9 ? -60_000 : -900);
}
