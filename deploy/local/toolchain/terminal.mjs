// Everything goes to stderr, so that the stdout of commands with a machine-readable answer stays clean.

const tty = process.stderr.isTTY === true;
const paint = (code, text) => (tty && !process.env.NO_COLOR ? `\x1b[${code}m${text}\x1b[0m` : text);

/** One sentence with a way out. Its cause, if text, is the output of the failed tool. */
export class SetupError extends Error {
  name = 'SetupError';
}

const running = new Map();
let timer;

/** Steps may run side by side: a terminal shows them in one line. Without one, a line is printed for each that takes long. */
export async function step(title, work) {
  const began = Date.now();
  const late = tty ? undefined : setTimeout(() => process.stderr.write(`› ${title} …\n`), 1500);
  running.set(title, began);
  timer ??= tty ? setInterval(show, 1000) : undefined;
  show();
  let end = '';
  try {
    const result = await work();
    const took = paint(2, `${((Date.now() - began) / 1000).toFixed(1)} s`);
    end = `${paint(32, '✓')} ${title} ${took}\n`;
    return result;
  } finally {
    clearTimeout(late);
    running.delete(title);
    show(end);
    if (running.size === 0) timer = clearInterval(timer);
  }
}

function show(ended = '') {
  if (!tty) return void process.stderr.write(ended);
  const seconds = Math.round((Date.now() - Math.min(...running.values())) / 1000);
  const line = running.size > 0 ? `${paint(2, '›')} ${[...running.keys()].join(', ')} … ${seconds} s` : '';
  process.stderr.write(`\r\x1b[2K${ended}${line}`);
}

export function giveUp(error) {
  const expected = error.name === 'SetupError';
  const detail = expected ? error.cause : error.stack;
  if (typeof detail === 'string' && detail.trim() !== '') process.stderr.write(`${detail.trim()}\n`);
  process.stderr.write(`${paint(31, '✗')} ${error.message}\n`);
  process.exit(1);
}
