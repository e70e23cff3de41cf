import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import './styles/index.css';
import { App } from './app/app.tsx';
import { watchActivity } from './model/client.ts';
import { keepFocus } from './ui/focus.ts';
import { watchTips } from './ui/tips.ts';

// Beside the first render, which takes longer: the code and the answers have loaded by now.
void document.fonts.load('1em Geist');
watchActivity();
watchTips();
keepFocus();

const place = document.getElementById('app');
if (!place) throw new Error('the page has no place for the portal');
createRoot(place).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
