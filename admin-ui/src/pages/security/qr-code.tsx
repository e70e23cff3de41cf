import { encode } from 'uqr';
import { CopyButton } from '../../ui/copy-button.tsx';
import s from './qr-code.module.css';

/** The code dark on light in both themes, as scanners want it. */
export function QrCode({ text, secret }: { readonly text: string; readonly secret: string }) {
  const { data, size } = encode(text, { border: 3 });
  const path = data.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : ''))).join('');
  return (
    <div className={s.box}>
      <svg viewBox={`0 0 ${size} ${size}`} role="img" aria-label="QR code with the secret" className={s.code}>
        <path d={path} fill="#000" shapeRendering="crispEdges" />
      </svg>
      <div className={s.secret}>
        <code>{secret.replaceAll(/(.{4})/g, '$1 ').trim()}</code>
        <CopyButton value={secret} label="Copy secret" />
      </div>
    </div>
  );
}
