import {useCallback, useEffect, useRef, useState} from 'react';

import {asApiError, type ApiError} from '../client';
import type {Entry, FileInfo} from '../types';
import {save, type Conflict, type Folder} from './calls';

/** A file on its way to the host. */
export type Job = {
    file: FileInfo;
    state: 'waiting' | 'saving' | 'done' | 'failed';

    /** As it is there. */
    entry?: Entry;
    problem?: ApiError;
};

/** Where files are saved, and what becomes of those whose name is taken. */
export type Aim = {folder: Folder; conflict: Conflict};

/** Saves files one after the other; when the dialog goes, the rest is not begun. */
export function useSaving(): [readonly Job[], (files: readonly FileInfo[], aim: Aim) => void] {
    const [jobs, setJobs] = useState<readonly Job[]>([]);
    const request = useRef(new AbortController());
    useEffect(() => {
        const own = new AbortController();
        request.current = own;
        return () => {
            own.abort();
        };
    }, []);

    const start = useCallback((files: readonly FileInfo[], aim: Aim) => {
        const {signal} = request.current;
        const change = (id: string, to: Omit<Job, 'file'>) => {
            if (!signal.aborted) {
                setJobs((before) => before.map((job) => (job.file.id === id ? {file: job.file, ...to} : job)));
            }
        };
        setJobs((before) => [
            ...before.filter(({file}) => files.every(({id}) => id !== file.id)),
            ...files.map((file): Job => ({file, state: 'waiting'})),
        ]);
        void saveEach(files, aim, signal, change);
    }, []);
    return [jobs, start];
}

async function saveEach(files: readonly FileInfo[], {folder, conflict}: Aim, signal: AbortSignal, change: (id: string, to: Omit<Job, 'file'>) => void): Promise<void> {
    for (const {id} of files) {
        if (signal.aborted) {
            return;
        }
        change(id, {state: 'saving'});
        try {
            change(id, {state: 'done', entry: await save(id, folder, conflict, signal)});
        } catch (error) {
            change(id, {state: 'failed', problem: asApiError(error)});
        }
    }
}
