import type { Span } from '@causeway/runtime';
import type { Decision } from '../attempt/decide.ts';
import type { PostResult } from '../http/post.ts';
import type { Job } from '../job.ts';

/** An attempt that was made, and the decision about its delivery. */
export interface Finished {
  readonly job: Job;
  readonly startedMs: number;
  readonly result: PostResult;
  readonly decision: Decision;
  /** Open until it is recorded. */
  readonly span?: Span | undefined;
}
