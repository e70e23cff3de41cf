import { writeFileSync } from 'node:fs';
import { renderRule, ruleFile } from './rule.ts';

// Regenerates the rules for the Prometheus operator. Run it after changing the rules.
writeFileSync(ruleFile, renderRule());
