import { writeFileSync } from 'node:fs';
import { renderRule, ruleFile } from './rule.ts';

// Writes the rules for Prometheus's operator anew: after a change of the rules.
writeFileSync(ruleFile, renderRule());
