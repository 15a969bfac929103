// SPDX-License-Identifier: GPL-2.0-or-later
import java.io.FileInputStream;
import java.io.IOException;

/** Reads the file that the argument names a hundred times, byte by byte; prints what Calls would. */
public final class Reads {
	static int read(String path) throws IOException {
		int nr = 1;

		try (FileInputStream in = new FileInputStream(path)) {
			while (in.read() >= 0)
				nr++;
		}
		return nr;
	}

	public static void main(String[] args) throws IOException {
		int nr = 0;

		for (int i = 0; i < 100; i++)
			nr += read(args[0]);
		System.out.println("path Reads.read;java.io.FileInputStream.read " + nr);
		System.out.println("path Reads.main;Reads.read;java.io.FileInputStream.<init> 100");
	}
}
