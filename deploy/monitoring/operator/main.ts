import { writeFileSync } from 'node:fs';
import { renderRule, ruleFile } from './rule.ts';

writeFileSync(ruleFile, renderRule());
