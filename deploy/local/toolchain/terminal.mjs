// Everything goes to stderr, so that the stdout of commands with a machine-readable answer stays clean.

const tty = process.stderr.isTTY === true;
const paint = (code, text) => (tty && !process.env.NO_COLOR ? `\x1b[${code}m${text}\x1b[0m` : text);

/** One sentence with a way out. Its cause, if text, is the output of the failed tool. */
export class SetupError extends Error {
  name = 'SetupError';
}

/** Without a terminal, it prints a line only if `work` takes long. */
export async function step(title, work) {
  const began = Date.now();
  const line = () => `${paint(2, '›')} ${title} … ${Math.round((Date.now() - began) / 1000)} s`;
  const timer = tty
    ? setInterval(() => process.stderr.write(`\r\x1b[2K${line()}`), 1000)
    : setTimeout(() => process.stderr.write(`› ${title} …\n`), 1500);
  if (tty) process.stderr.write(line());
  const clear = tty ? '\r\x1b[2K' : '';
  try {
    const result = await work();
    const took = paint(2, `${((Date.now() - began) / 1000).toFixed(1)} s`);
    process.stderr.write(`${clear}${paint(32, '✓')} ${title} ${took}\n`);
    return result;
  } catch (error) {
    process.stderr.write(clear);
    throw error;
  } finally {
    clearInterval(timer);
  }
}

export function giveUp(error) {
  const expected = error.name === 'SetupError';
  const detail = expected ? error.cause : error.stack;
  if (typeof detail === 'string' && detail.trim() !== '') process.stderr.write(`${detail.trim()}\n`);
  process.stderr.write(`${paint(31, '✗')} ${error.message}\n`);
  process.exit(1);
}
