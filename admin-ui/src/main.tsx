import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import './styles/index.css';
import { watchActivity } from './api/client.ts';
import { App } from './app/app.tsx';

watchActivity();

// Nothing needs them before the first page is shown.
void import('./ui/tips.ts').then(({ watchTips }) => watchTips());

const place = document.getElementById('app');
if (!place) throw new Error('the page has no place for the portal');
createRoot(place).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
