import {describe, expect, it} from 'vitest';

import {ApiError} from '../client';
import type {Connection} from '../types';
import {reduce, type Event, type View} from './connection';

const absent: Connection = {state: 'not_connected', host: {id: 'default', name: 'Company Cloud', kind: 'nextcloud'}, method: 'oauth'};
const dead: Connection = {...absent, state: 'reconnect', account: 'alice'};
const live: Connection = {...absent, state: 'connected', account: 'alice', since: '2026-11-20T09:30:00Z'};
const problem = new ApiError({code: 'host_unavailable', message: 'The host does not answer.'}, 502);
const unconfigured = new ApiError({code: 'not_configured', message: 'Not set up.'}, 503);
const page = 'https://cloud.example.com/authorize';

const loading: View = {step: 'loading'};
const disconnected: View = {step: 'disconnected', connection: absent, busy: false};
const waiting: View = {step: 'waiting', connection: absent, page, busy: false};
const connected: View = {step: 'connected', connection: live, busy: false};

const cases: Record<string, {view: View; event: Event; want: View}> = {
    'the first answer: connected': {view: loading, event: {type: 'learned', connection: live}, want: connected},
    'the first answer: not connected': {view: loading, event: {type: 'learned', connection: absent}, want: disconnected},
    'the first answer: a dead grant': {
        view: loading,
        event: {type: 'learned', connection: dead},
        want: {step: 'disconnected', connection: dead, busy: false},
    },
    'no first answer': {view: loading, event: {type: 'failed', problem}, want: {step: 'failed', problem}},
    'another try after it': {view: {step: 'failed', problem}, event: {type: 'asked'}, want: loading},
    'settings are missing': {view: loading, event: {type: 'failed', problem: unconfigured}, want: {step: 'unconfigured'}},
    'settings go missing while connected': {view: connected, event: {type: 'failed', problem: unconfigured}, want: {step: 'unconfigured'}},
    'the user submits': {
        view: {...disconnected, problem},
        event: {type: 'submitted'},
        want: {step: 'disconnected', connection: absent, busy: true},
    },
    'nothing can be submitted before the first answer': {view: loading, event: {type: 'submitted'}, want: loading},
    'what was submitted is refused': {
        view: {...disconnected, busy: true},
        event: {type: 'failed', problem},
        want: {...disconnected, problem},
    },
    'the sign-in page opens': {view: {...disconnected, busy: true}, event: {type: 'signingIn', page}, want: waiting},
    'a code is there without a sign-in here': {
        view: disconnected,
        event: {type: 'codeOffered'},
        want: {step: 'waiting', connection: absent, busy: false},
    },
    'a code makes no sense while connected': {view: connected, event: {type: 'codeOffered'}, want: connected},
    'still not connected while the user signs in': {
        view: {...waiting, problem},
        event: {type: 'learned', connection: absent},
        want: waiting,
    },
    'connected while the user signs in': {view: waiting, event: {type: 'learned', connection: live}, want: connected},
    'a wrong code': {view: {...waiting, busy: true}, event: {type: 'failed', problem}, want: {...waiting, problem}},
    'disconnected elsewhere': {view: connected, event: {type: 'learned', connection: absent}, want: disconnected},
    'disconnected here': {view: {...connected, busy: true}, event: {type: 'disconnected'}, want: disconnected},
    'disconnecting is refused': {view: {...connected, busy: true}, event: {type: 'failed', problem}, want: {...connected, problem}},
};

describe('reduce', () => {
    it.each(Object.entries(cases))('%s', (_, {view, event, want}) => {
        expect(reduce(view, event)).toEqual(want);
    });
});
