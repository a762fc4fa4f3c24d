"""The tests' own way of emptying the database after each test that commits.

Django truncates every table and then makes content types and permissions anew. With some hundred
small tables that takes several times as long as most tests do.
"""
