import type {MessageDescriptor} from 'react-intl';

import type {ErrorCode} from '../types';
import {messages} from './connectWords';
import {words} from './words';

/** The step that leads on after an error. */
export type NextStep = 'retry' | 'top' | 'reload' | 'none';

/** What an error of a listing says, and what to do about it. Without `title` the server's own words are shown. */
export type Advice = {title?: MessageDescriptor; help?: MessageDescriptor; next: NextStep};

/** What to say of each error. */
export const adviceFor: Record<ErrorCode, Advice> = {
    offline: {title: messages.offline, next: 'retry'},
    unreadable: {title: messages.unexpected, next: 'retry'},
    host_unavailable: {title: words.hostDown, help: words.hostDownHelp, next: 'retry'},
    timeout: {title: words.timeout, help: words.hostDownHelp, next: 'retry'},
    maintenance: {title: words.maintenance, help: words.hostDownHelp, next: 'retry'},
    rate_limited: {title: words.rateLimited, help: words.rateLimitedHelp, next: 'retry'},
    internal: {title: messages.unexpected, next: 'retry'},
    not_found: {title: words.gone, next: 'top'},
    forbidden: {title: words.forbidden, next: 'top'},
    unsupported: {title: words.unsupported, next: 'top'},
    too_large: {title: words.tooLong, help: words.tooLongHelp, next: 'top'},
    not_authenticated: {title: words.loggedOut, help: words.loggedOutHelp, next: 'reload'},
    not_configured: {title: messages.notConfigured, next: 'none'},
    invalid_request: {next: 'top'},
    method_not_allowed: {next: 'retry'},
    conflict: {next: 'retry'},
    changed: {next: 'retry'},
    key_reused: {next: 'retry'},
    not_connected: {next: 'retry'},
};
