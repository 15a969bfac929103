// SPDX-License-Identifier: GPL-2.0-or-later
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.rmi.Remote;
import java.rmi.RemoteException;
import java.rmi.server.UnicastRemoteObject;
import java.util.concurrent.CountDownLatch;

/*
 * Calls by RMI. "Rmi serve FILE": writes a remote object to the file, and serves until somebody stops it. "Rmi call
 * FILE": two threads call it, each over a connection of its own, some calls with an exception as the answer.
 */
public final class Rmi {
	public interface Worker extends Remote {
		int work(int n) throws RemoteException;
		void stop() throws RemoteException;
	}

	static final class Server implements Worker {
		final CountDownLatch stopped = new CountDownLatch(1);

		@Override public int work(int n) {
			return Rmi.work(n);
		}

		@Override public void stop() {
			stopped.countDown();
		}
	}

	static int work(int n) {
		if (n < 0)
			throw new IllegalArgumentException("" + n);
		return n + 1;
	}

	static void serve(Path file) throws Exception {
		Server s = new Server();
		Path part = file.resolveSibling("part");

		try (OutputStream out = Files.newOutputStream(part)) {
			new ObjectOutputStream(out).writeObject(UnicastRemoteObject.exportObject(s, 0));
		}
		Files.move(part, file);
		s.stopped.await();
		while (!UnicastRemoteObject.unexportObject(s, false))
			Thread.sleep(1);
	}

	static void one(Worker w) throws RemoteException {
		if (w.work(1) != 2)
			throw new IllegalStateException();
	}

	static void other(Worker w) throws RemoteException {
		if (w.work(2) != 3)
			throw new IllegalStateException();
	}

	static void fails(Worker w) throws RemoteException {
		try {
			w.work(-1);
		} catch (IllegalArgumentException e) {
			return;
		}
		throw new IllegalStateException();
	}

	static void calls(Worker w, int n) {
		try {
			for (int i = 0; i < n; i++) {
				one(w);
				fails(w);
				other(w);
			}
		} catch (RemoteException e) {
			throw new IllegalStateException(e);
		}
	}

	static void call(Path file) throws Exception {
		Worker w;

		try (ObjectInputStream in = new ObjectInputStream(Files.newInputStream(file))) {
			w = (Worker)in.readObject();
		}
		Thread second = new Thread(() -> calls(w, 5));

		second.start();
		calls(w, 4);
		second.join();
		w.stop();
	}

	public static void main(String[] args) throws Exception {
		System.setProperty("java.rmi.server.hostname", "127.0.0.1");
		if (args[0].equals("serve"))
			serve(Paths.get(args[1]));
		else
			call(Paths.get(args[1]));
	}
}
