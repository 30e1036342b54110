/** Something that happens from time to time and carries no value. */
export type Signal = {

    /** Tells all present listeners that it happened. */
    emit: () => void;

    /** Calls `listener` each time, until the function it returns is called. */
    subscribe: (listener: () => void) => () => void;
};

/** A signal without listeners. */
export function createSignal(): Signal {
    const listeners = new Set<() => void>();
    return {
        emit: () => {
            for (const listener of [...listeners]) {
                listener();
            }
        },
        subscribe: (listener) => {
            listeners.add(listener);
            return () => {
                listeners.delete(listener);
            };
        },
    };
}
