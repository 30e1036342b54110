import type {ApiError} from '../client';
import type {Entry, FileInfo} from '../types';
import {keyAfter} from './key';

/** A file on its way into the message. */
export type Job = {
    entry: Entry;

    /** Makes it safe to ask again: the same key never copies the file twice. */
    key: string;
    state: 'waiting' | 'copying' | 'done' | 'failed' | 'cancelled';

    /** Of the copy, once there is one. */
    info?: FileInfo;
    problem?: ApiError;

    /** The message has the file. */
    delivered?: boolean;
};

/** All files that are on their way, in the order in which they were chosen. */
export type Transfer = readonly Job[];

/** What happens to a transfer; `id` is that of the entry. */
export type TransferEvent =
    | {type: 'started'; entries: readonly Entry[]; key: () => string}
    | {type: 'began'; id: string}
    | {type: 'copied'; id: string; info: FileInfo}
    | {type: 'failed'; id: string; problem: ApiError}
    | {type: 'cancelled'; id: string}
    | {type: 'retried'; id: string; key: () => string}
    | {type: 'delivered'}
    | {type: 'dismissed'};

/** The transfer after an event. */
export function reduceTransfer(transfer: Transfer, event: TransferEvent): Transfer {
    switch (event.type) {
    case 'started':
        return event.entries.map((entry) => ({entry, key: event.key(), state: 'waiting'}));
    case 'began':
        return change(transfer, event.id, (job) => ({...job, state: 'copying'}));
    case 'copied':
        return change(transfer, event.id, ({entry, key}) => ({entry, key, state: 'done', info: event.info}));
    case 'failed':
        return change(transfer, event.id, ({entry, key}) => ({entry, key, state: 'failed', problem: event.problem}));
    case 'cancelled':
        return change(transfer, event.id, (job) => (isOver(job) ? job : {entry: job.entry, key: job.key, state: 'cancelled'}));
    case 'retried':
        return change(transfer, event.id, (job) => again(job, event.key));
    case 'delivered':
        return transfer.map((job) => (job.state === 'done' ? {...job, delivered: true} : job));
    case 'dismissed':
        return [];
    }
}

function change(transfer: Transfer, id: string, to: (job: Job) => Job): Transfer {
    return transfer.map((job) => (job.entry.id === id ? to(job) : job));
}

/** The job from its start. Who wants a file all the same after it has changed takes it as it is now. */
function again({entry, key, problem}: Job, newKey: () => string): Job {
    const {etag, ...current} = entry;
    return {
        entry: problem?.code === 'changed' || etag === undefined ? current : entry,
        key: keyAfter(problem, key, newKey),
        state: 'waiting',
    };
}

function isOver({state}: Job): boolean {
    return state !== 'waiting' && state !== 'copying';
}

/** Whether nothing is on its way any more. */
export function isSettled(transfer: Transfer): boolean {
    return transfer.every(isOver);
}

/** How many files are in each state. */
export function tally(transfer: Transfer): Record<Job['state'], number> {
    const counts = {waiting: 0, copying: 0, done: 0, failed: 0, cancelled: 0};
    for (const {state} of transfer) {
        counts[state]++;
    }
    return counts;
}

/** The next files to copy, while at most so many are copied at once. */
export function next(transfer: Transfer, atOnce: number): Job[] {
    const free = atOnce - tally(transfer).copying;
    return transfer.filter(({state}) => state === 'waiting').slice(0, Math.max(0, free));
}

/** The copies that the message does not have yet. */
export function undelivered(transfer: Transfer): FileInfo[] {
    return transfer.flatMap(({info, delivered}) => (info && !delivered ? [info] : []));
}
