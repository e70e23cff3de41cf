// What a person sees while the ground is being laid. Everything goes to stderr, so that a command
// whose answer is on stdout (`--json`) stays clean.

const tty = process.stderr.isTTY === true;
const paint = (code, text) => (tty && !process.env.NO_COLOR ? `\x1b[${code}m${text}\x1b[0m` : text);

/** A failure the person can act on: one sentence saying what is wrong and the way out. */
export class Unprovided extends Error {}

/** Runs `work` under a line that counts the seconds; the line stays only when it took long enough to matter. */
export async function step(title, work) {
  const began = Date.now();
  const seconds = () => Math.round((Date.now() - began) / 1000);
  const draw = () => process.stderr.write(`\r\x1b[2K${paint(2, '›')} ${title} … ${seconds()} s`);
  let timer;
  if (tty) {
    draw();
    timer = setInterval(draw, 1000);
  } else {
    process.stderr.write(`› ${title} …\n`);
  }
  try {
    const result = await work();
    process.stderr.write(
      `${tty ? '\r\x1b[2K' : ''}${paint(32, '✓')} ${title} ${paint(2, `${seconds()} s`)}\n`,
    );
    return result;
  } catch (error) {
    if (tty) process.stderr.write('\r\x1b[2K');
    throw error;
  } finally {
    clearInterval(timer);
  }
}

/** Prints the one sentence (and, if there is one, the tool's own words) and ends with status 1. */
export function giveUp(error) {
  const expected = error instanceof Unprovided;
  const detail = expected ? error.cause : error.stack;
  if (typeof detail === 'string' && detail.trim() !== '') process.stderr.write(`${detail.trim()}\n`);
  process.stderr.write(`${paint(31, '✗')} ${error.message}\n`);
  process.exit(1);
}
